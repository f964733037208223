//! How long the allocator keeps pages that were freed, before the system gets them back.

use std::ffi::c_long;

/// For good. Training asks for them again at every step, and to get them back, zeroed, costs a twentieth of its time.
pub(crate) fn keep() {
    set_purge_delay(-1);
}

/// For some seconds. A service runs for months: what many clients once made it need would else stay its own.
pub(crate) fn give_back() {
    set_purge_delay(2000);
}

fn set_purge_delay(milliseconds: c_long) {
    /// `mi_option_purge_delay` of mimalloc's C interface; the crate has no name for it.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: sets a number in a table of the allocator; a number that it does not know it ignores.
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds);
    }
}
