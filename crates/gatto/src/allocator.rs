//! The allocator of the program, and how it is set: how long pages that were freed are kept, and where the largest blocks go.

use libmimalloc_sys::mi_option_t;
use std::ffi::c_long;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Numbers of mimalloc's C interface, version 3.3; the crate has no names for them.
const PURGE_DELAY: mi_option_t = 15;
const ARENA_MAX_OBJECT_SIZE: mi_option_t = 45;

/// The most KiB of a block that shares a region with others. A larger one is the system's again as soon as it is freed: regions
/// have 32 MiB, and small blocks that came meanwhile would leave it no room in any, so that each such gradient took a new one.
const MOST_SHARED: c_long = 16 << 10;

/// Keeps freed pages for good. Training asks for them again at every step, and to get them back, zeroed, costs a twentieth of
/// its time.
pub(crate) fn keep_pages() {
    set(PURGE_DELAY, -1);
    set(ARENA_MAX_OBJECT_SIZE, MOST_SHARED);
}

/// Keeps them for some seconds. A service runs for months: what many clients once made it need would else stay its own.
pub(crate) fn give_pages_back() {
    set(PURGE_DELAY, 2000);
}

fn set(option: mi_option_t, value: c_long) {
    // SAFETY: sets a number in a table of the allocator; an option that it does not know it ignores.
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    unsafe {
        libmimalloc_sys::mi_option_set(option, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    fn options_have_their_numbers() {
        // SAFETY: both only read a number.
        let (version, before) = unsafe {
            (
                libmimalloc_sys::mi_version(),
                [PURGE_DELAY, ARENA_MAX_OBJECT_SIZE].map(|option| libmimalloc_sys::mi_option_get(option)),
            )
        };
        assert_eq!(version / 100, 303, "look up the numbers of the options in mimalloc.h");
        assert_eq!(before, [1000, 2 << 20], "what mimalloc has without us: milliseconds and KiB");
    }
}
