//! The allocator of the program, and how it is set: how long pages that were freed are kept, and where the largest blocks go.

use libmimalloc_sys::mi_option_t;
use std::ffi::c_long;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Numbers of mimalloc's C interface, version 3.3; the crate has no names for them.
const PURGE_DELAY: mi_option_t = 15;
const ARENA_MAX_OBJECT_SIZE: mi_option_t = 45;

/// The most KiB of a block that shares a region with others, its header among them: one of 15 MiB has room. In regions of 32 MiB a
/// larger one finds none again, once small blocks have come between, and each takes a new region.
const MOST_SHARED: c_long = 16 << 10;
/// The same if nothing is set.
const USUAL_MOST_SHARED: c_long = 2 << 20;

/// As training needs it. Freed pages are kept for good: it asks for them again at every step, and to get them back, zeroed, costs a
/// twentieth of its time. The largest blocks go back at once, which costs up to a twentieth in models that have such, and saves
/// a tenth of their memory.
pub(crate) fn for_training() {
    set(PURGE_DELAY, -1);
    set(ARENA_MAX_OBJECT_SIZE, MOST_SHARED);
}

/// As a service needs it, which runs for months: what many clients once made it need would else stay its own. All pages are kept
/// for some seconds.
pub(crate) fn for_service() {
    set(PURGE_DELAY, 2000);
    set(ARENA_MAX_OBJECT_SIZE, USUAL_MOST_SHARED);
}

fn set(option: mi_option_t, value: c_long) {
    // SAFETY: sets an aligned number in a table of the allocator, of which all values are allowed and which others read at any time.
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    unsafe {
        libmimalloc_sys::mi_option_set(option, value);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    fn options_have_their_numbers() {
        // Here, as benches have the module without its tests.
        use super::{ARENA_MAX_OBJECT_SIZE, PURGE_DELAY, USUAL_MOST_SHARED};
        // SAFETY: both only read a number.
        let (version, before) = unsafe {
            (
                libmimalloc_sys::mi_version(),
                [PURGE_DELAY, ARENA_MAX_OBJECT_SIZE].map(|option| libmimalloc_sys::mi_option_get(option)),
            )
        };
        assert_eq!(version / 100, 303, "look up the numbers of the options in mimalloc.h");
        assert_eq!(before, [1000, USUAL_MOST_SHARED], "what mimalloc has without us: milliseconds and KiB");
    }
}
