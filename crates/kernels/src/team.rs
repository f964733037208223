//! Threads that stand ready for work of microseconds.
//!
//! While a sequence is written, a step is a row of small products, each over before a thread that sleeps has woken up. Those of
//! the team look out for a while before they sleep, so that all parts of a product begin at the same time.
//!
//! There is one team. Who finds it at work does without: several threads that each have work of this kind have no use for more.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a thread looks out for work before it sleeps: longer than what a step does between two products.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks between two looks at the clock, or two offers to let others have the core.
const LOOKS: u32 = 128;

/// What to do for a part, known by its number.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

static TEAM: Mutex<Vec<Member>> = Mutex::new(Vec::new());

/// So many threads can look out without taking a core from one another.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// How long it takes to give so many threads their parts of some work and to hear that all are done, in nanoseconds. It is found
/// out when it is first asked for: between cores that share a cache it is a tenth of what it is between others. None while the
/// team is at work elsewhere, or where threads cannot be had.
pub(crate) fn cost(count: usize) -> Option<u32> {
    /// Of so many trials the best counts: others have met a thread that slept, or a machine that had other things to do.
    const TRIALS: usize = 8;
    /// How often it is done in a trial, for one of which a look at the clock takes too long.
    const TIMES: u32 = 10;
    /// For how many threads it was found out last, in the upper half, and what came out.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let known = KNOWN.load(Ordering::Relaxed);
    if known >> 32 == count as u64 {
        return Some(known as u32);
    }
    let trial = |_| {
        let begun = Instant::now();
        (0..TIMES).all(|_| at_once(count, &|_| ())).then(|| begun.elapsed() / TIMES)
    };
    let trials: Option<Vec<Duration>> = (0..TRIALS).map(trial).collect();
    let cost = u32::try_from(trials?.into_iter().min()?.as_nanos()).unwrap_or(u32::MAX);
    KNOWN.store((count as u64) << 32 | u64::from(cost), Ordering::Relaxed);
    Some(cost)
}

/// Has `work` done for all numbers below `count`, by as many threads at the same time, the calling one among them. Tells whether it
/// was done: nothing is where the team is at work already, or threads cannot be had.
///
/// # Panics
/// If the work does.
pub(crate) fn at_once(count: usize, work: &Work<'_>) -> bool {
    // The instructions that a test has chosen for its thread are those of all that work for it.
    #[cfg(test)]
    let chosen = crate::instructions::sets::chosen();
    #[cfg(test)]
    let work: &Work<'_> = &|part| match chosen {
        Some(arch) => crate::instructions::sets::with(arch, || work(part)),
        None => work(part),
    };
    debug_assert!(count > 0, "the calling thread does a part");
    let mut team = match TEAM.try_lock() {
        Ok(team) => team,
        // Work that failed leaves members that have been waited for.
        Err(TryLockError::Poisoned(team)) => team.into_inner(),
        Err(TryLockError::WouldBlock) => return false,
    };
    while team.len() + 1 < count {
        let Some(member) = Member::new() else { return false };
        team.push(member);
    }
    let members = &team[..count.saturating_sub(1)];
    {
        let _done = Done(members);
        for (part, member) in (1..).zip(members) {
            member.give(work, part);
        }
        work(0);
    }
    let failed = members.iter().any(Member::has_failed);
    assert!(!failed, "a part of some work failed on another thread");
    true
}

/// Waits for members, also where the calling thread fails.
struct Done<'a>(&'a [Member]);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(Member::wait);
    }
}

struct Member {
    place: Arc<Place>,
    thread: Thread,
}

/// Where a member finds its work. What either side writes has lines of the cache of its own: each line that both want goes to and fro
/// between two cores, and that is most of what giving work away costs.
#[derive(Default)]
struct Place {
    giver: Lines<Giver>,
    member: Lines<Told>,
}

/// What who gives work writes.
#[derive(Default)]
struct Giver {
    /// How often there was work.
    given: AtomicU64,
    work: UnsafeCell<Option<(*const Work<'static>, usize)>>,
}

/// What the member writes.
#[derive(Default)]
struct Told {
    /// How much of the work is done.
    done: AtomicU64,
    sleeps: AtomicBool,
    failed: AtomicBool,
}

/// Lines that nothing else is in; two, as machines fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Lines<T>(T);

// SAFETY: `work` is written only when all that was given is done, and read only between being given and being done; what it
// points to may be shared.
#[allow(unsafe_code, reason = "work borrows from who gives it, who waits until it is done")]
unsafe impl Send for Place {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "work borrows from who gives it, who waits until it is done")]
unsafe impl Sync for Place {}

impl Member {
    /// None where there are no more threads.
    fn new() -> Option<Self> {
        let place = Arc::new(Place::default());
        let own = Arc::clone(&place);
        let thread = thread::Builder::new().name("team".to_owned()).spawn(move || own.stand_ready()).ok()?;
        Some(Self { place, thread: thread.thread().clone() })
    }

    /// Gives it a part of some work. It must be waited for before the work is gone.
    fn give(&self, work: &Work<'_>, part: usize) {
        let (work, Lines(giver)): (*const Work<'_>, _) = (work, &self.place.giver);
        // SAFETY: all that was given before is done, so that nobody reads the place; `at_once`, the only one to give, holds the
        // lock and waits for its members before the work that it borrows is gone.
        #[allow(unsafe_code, reason = "threads that last longer than what they work on cannot borrow it")]
        unsafe {
            let work = std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work);
            *giver.work.get() = Some((work, part));
        }
        let given = giver.given.load(Ordering::Relaxed) + 1;
        giver.given.store(given, Ordering::Release);
        self.wake();
    }

    /// A member that falls asleep at this moment may be missed: whoever waits for it looks again, when its own part is done.
    fn wake(&self) {
        if self.place.member.0.sleeps.load(Ordering::Relaxed) {
            self.thread.unpark();
        }
    }

    fn wait(&self) {
        let Place { giver: Lines(giver), member: Lines(told) } = &*self.place;
        let given = giver.given.load(Ordering::Relaxed);
        let mut looks = 0u32;
        while told.done.load(Ordering::Acquire) != given {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.wake();
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }

    /// Whether what was waited for has failed.
    fn has_failed(&self) -> bool {
        self.place.member.0.failed.load(Ordering::Relaxed)
    }
}

impl Place {
    /// What a member does all its life.
    fn stand_ready(&self) {
        let Lines(told) = &self.member;
        for done in 1.. {
            self.look_out(done);
            // SAFETY: the work was given and is not done, so that whoever gave it waits and nobody writes here.
            #[allow(unsafe_code, reason = "threads that last longer than what they work on cannot borrow it")]
            let work = unsafe { (*self.giver.0.work.get()).map(|(work, part)| (&*work, part)) };
            if let Some((work, part)) = work {
                let result = catch_unwind(AssertUnwindSafe(|| work(part)));
                told.failed.store(result.is_err(), Ordering::Relaxed);
                // What a failure carries might fail as it is dropped, and nobody would ever be told that this is done.
                result.unwrap_or_else(std::mem::forget);
            }
            told.done.store(done, Ordering::Release);
        }
    }

    /// Comes back when so much work was given.
    fn look_out(&self, wanted: u64) {
        let (Lines(giver), Lines(told)) = (&self.giver, &self.member);
        let (begun, mut looks) = (Instant::now(), 0u32);
        while giver.given.load(Ordering::Acquire) < wanted {
            spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && begun.elapsed() > PATIENCE {
                told.sleeps.store(true, Ordering::Relaxed);
                while giver.given.load(Ordering::Acquire) < wanted {
                    thread::park();
                }
                told.sleeps.store(false, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Other tests have products too, and so the team may be at work.
    fn surely_at_once(count: usize, work: &Work<'_>) {
        while !at_once(count, work) {
            thread::yield_now();
        }
    }

    #[test]
    fn every_part_is_done_once_whether_the_team_sleeps_or_not() {
        for round in 0..300 {
            let count = 1 + round % 4;
            let parts: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            surely_at_once(count, &|part| {
                parts[part].fetch_add(1 + round, Ordering::Relaxed);
            });
            assert!(parts.iter().all(|part| part.load(Ordering::Relaxed) == 1 + round), "{parts:?}");
            if round % 50 == 0 {
                thread::sleep(5 * PATIENCE);
            }
        }
    }

    /// A member that is on its way to sleep and is not seen to be has to be woken by who waits for it.
    #[test]
    fn work_that_comes_as_a_member_falls_asleep_is_done() {
        let done = AtomicUsize::new(0);
        for round in 0..400u32 {
            let begun = Instant::now();
            let pause = PATIENCE * (90 + round % 21) / 100;
            while begun.elapsed() < pause {
                spin_loop();
            }
            surely_at_once(2, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(done.into_inner(), 800);
    }

    #[test]
    fn who_finds_it_at_work_is_told() {
        surely_at_once(2, &|_| assert!(!at_once(2, &|_| ())));
    }

    #[test]
    fn what_it_costs_is_found_out_for_each_number_of_threads() {
        let surely = |count| loop {
            match cost(count) {
                Some(cost) => break cost,
                None => thread::yield_now(),
            }
        };
        for count in [2, 3] {
            let found = surely(count);
            assert!((1..1_000_000_000).contains(&found), "{found}");
        }
        // Nobody can be told of work in the midst of work, and no other test asks for so many.
        surely_at_once(2, &|_| assert_eq!(cost(61), None));
    }

    #[test]
    fn what_fails_on_a_thread_fails_for_all_and_the_team_goes_on() {
        for bad in [0, 1, 2] {
            let failed = catch_unwind(|| surely_at_once(3, &|part| assert_ne!(part, bad)));
            assert!(failed.is_err(), "{bad}");
            surely_at_once(3, &|_| ());
        }
    }
}
