//! Tenses, and how the two languages' tenses correspond.
//!
//! | English                 | Italian                                             |
//! |-------------------------|-----------------------------------------------------|
//! | eats                    | mangia                                              |
//! | is eating               | sta mangiando                                       |
//! | ate, has eaten          | ha mangiato                                         |
//! | was eating              | mangiava                                            |
//! | knew (a state)          | conosceva                                           |
//! | will eat                | mangerà                                             |
//! | can / must eat          | può / deve mangiare                                 |
//! | wants / wanted to eat   | vuole / voleva mangiare                             |
//! | would like to eat       | vorrebbe mangiare                                   |

/// What an English verb group says about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tense {
    Present,
    /// *is eating*
    Progressive,
    /// *ate*
    Past,
    /// *has eaten*
    Perfect,
    /// *was eating*
    Imperfect,
    Future,
    /// A modal verb with an infinitive.
    Modal(Modal),
}

/// A verb that governs an infinitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modal {
    Can,
    Must,
    Want,
    Wanted,
    WouldLike,
}

/// Tenses that go together, and with the same adverbs of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Past,
    Present,
    Future,
}
