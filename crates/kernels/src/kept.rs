//! What a thread keeps from call to call: a step of a few microseconds should not have to ask for memory.

use std::cell::Cell;
use std::thread::LocalKey;

/// What is larger is given back: it was needed for more than a step.
const MOST: usize = 1 << 20;

/// Something that may be kept.
pub(crate) trait Kept: Default {
    /// The memory that it holds.
    fn bytes(&self) -> usize;
}

/// Works with what the thread keeps here, as the last call left it. A call within another has something of its own.
pub(crate) fn with<T: Kept, R>(place: &'static LocalKey<Cell<T>>, work: impl FnOnce(&mut T) -> R) -> R {
    let mut kept = place.take();
    let result = work(&mut kept);
    keep(place, kept);
    result
}

/// Leaves something for the next call, unless it is too large.
pub(crate) fn keep<T: Kept>(place: &'static LocalKey<Cell<T>>, kept: T) {
    if kept.bytes() <= MOST {
        place.set(kept);
    }
}

/// A list without elements in the memory of another, whose elements may borrow from elsewhere.
pub fn emptied<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    // What is collected from a list of elements of the same size stays where that was.
    list.into_iter().map(|_| -> U { unreachable!("nothing is left of it") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct List(Vec<u8>);

    impl Kept for List {
        fn bytes(&self) -> usize {
            self.0.capacity()
        }
    }

    thread_local! {
        static LIST: Cell<List> = Cell::default();
    }

    #[test]
    fn what_is_small_is_kept_and_calls_within_calls_do_not_meet() {
        with(&LIST, |list| {
            list.0.reserve_exact(100);
            with(&LIST, |inner| assert_eq!(inner.0.capacity(), 0));
        });
        with(&LIST, |list| assert_eq!(list.0.capacity(), 100));
        with(&LIST, |list| list.0.reserve_exact(MOST + 1));
        with(&LIST, |list| assert_eq!(list.0.capacity(), 0));
    }

    #[test]
    fn a_list_keeps_its_memory() {
        let values = [1.0, 2.0];
        let mut list: Vec<&[f32]> = Vec::with_capacity(7);
        list.push(&values);
        let place = list.as_ptr();
        let list: Vec<&'static [f32]> = emptied(list);
        assert_eq!((list.as_ptr(), list.len(), list.capacity()), (place, 0, 7));
    }
}
