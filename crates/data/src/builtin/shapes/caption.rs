//! The grammar of captions: what can be said of a scene, and how it is said.
//!
//! ```text
//! caption   → there is NAME | there is NAME and NAME | there is NAME, NAME … and NAME
//!           | there is one KIND | there are NUMBER KINDS
//!           | NAME is RELATION NAME | NAME is RELATION NAME and RELATION NAME
//!           | NAME is PLACE
//!           | the EXTREME object is NAME
//! NAME      → a KIND | an KIND | the KIND              (no `the` after `there is` and `object is`)
//! KIND      → (small | large)? COLOUR? (SHAPE | object)
//! NUMBER    → two | three | four | five
//! RELATION  → left of | right of | above | below | larger than | smaller than | in front of | behind
//! PLACE     → on the left | on the right | at the top | at the bottom
//! EXTREME   → largest | smallest | leftmost | rightmost | highest | lowest
//! ```

use std::fmt;

use super::things::{Colour, Shape, Size, named};
use crate::words;

named! {
    /// How two objects stand to each other.
    Relation {
        /// Its centre is further left.
        LeftOf = "left of",
        /// Its centre is further right.
        RightOf = "right of",
        /// Its centre is further up.
        Above = "above",
        /// Its centre is further down.
        Below = "below",
        /// Its radius is larger.
        LargerThan = "larger than",
        /// Its radius is smaller.
        SmallerThan = "smaller than",
        /// It covers a part of the other.
        InFrontOf = "in front of",
        /// The other covers a part of it.
        Behind = "behind",
    }
}

named! {
    /// A side of the picture.
    Place {
        /// In its left part.
        Left = "on the left",
        /// In its right part.
        Right = "on the right",
        /// In its upper part.
        Top = "at the top",
        /// In its lower part.
        Bottom = "at the bottom",
    }
}

named! {
    /// What only one object can be.
    Extreme {
        /// Larger than all others.
        Largest = "largest",
        /// Smaller than all others.
        Smallest = "smallest",
        /// Further left than all others.
        Leftmost = "leftmost",
        /// Further right than all others.
        Rightmost = "rightmost",
        /// Further up than all others.
        Highest = "highest",
        /// Further down than all others.
        Lowest = "lowest",
    }
}

/// The words for numbers of objects, from one.
pub(super) const NUMBERS: [&str; 5] = ["one", "two", "three", "four", "five"];

/// A kind of object: what is not given may be anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Small or large.
    pub size: Option<Size>,
    /// Its colour.
    pub colour: Option<Colour>,
    /// Its shape.
    pub shape: Option<Shape>,
}

/// An object that is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// `the`, for the only one of its kind.
    pub definite: bool,
    /// What it is.
    pub kind: Kind,
}

/// A sentence about a scene.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caption {
    /// *there is a red circle, a star and a small square*: so many different objects.
    There(Vec<Name>),
    /// *there are two red objects*: exactly so many.
    Count {
        /// How many, from 1 to 5.
        number: usize,
        /// Of what.
        kind: Kind,
    },
    /// *a red circle is left of a star and above a square*
    Relations {
        /// What is spoken of.
        subject: Name,
        /// One or two things that are said of it.
        said: Vec<(Relation, Name)>,
    },
    /// *a red circle is at the top*
    At {
        /// What is spoken of.
        subject: Name,
        /// Where it is.
        place: Place,
    },
    /// *the largest object is a red circle*
    Only {
        /// What sets it apart.
        extreme: Extreme,
        /// What it is.
        name: Name,
    },
}

/// A word of a caption, and which of the caption's names it belongs to, if it says what an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: &'static str,
    pub(super) name: Option<usize>,
}

/// Words under way.
#[derive(Default)]
struct Saying(Vec<Word>);

impl Saying {
    /// Words that name nothing.
    fn plain(&mut self, phrase: &'static str) {
        self.0.extend(phrase.split(' ').map(|text| Word { text, name: None }));
    }

    /// A word that says what name `number` is.
    fn naming(&mut self, text: &'static str, number: usize) {
        self.0.push(Word { text, name: Some(number) });
    }

    fn kind(&mut self, kind: Kind, several: bool, number: usize) {
        let noun = match (kind.shape, several) {
            (Some(shape), false) => shape.word(),
            (Some(shape), true) => shape.plural(),
            (None, false) => "object",
            (None, true) => "objects",
        };
        let words = [kind.size.and_then(Size::word), kind.colour.map(Colour::word), Some(noun)];
        for word in words.into_iter().flatten() {
            self.naming(word, number);
        }
    }

    fn name(&mut self, name: Name, number: usize) {
        let article = self.0.len();
        self.plain("the");
        self.kind(name.kind, false, number);
        if !name.definite {
            let before_vowel = self.0[article + 1].text.starts_with(['a', 'e', 'i', 'o', 'u']);
            self.0[article].text = if before_vowel { "an" } else { "a" };
        }
    }
}

impl Caption {
    /// The objects that are spoken of, in order.
    pub fn names(&self) -> Vec<Name> {
        let indefinite = |kind: &Kind| Name { definite: false, kind: *kind };
        match self {
            Self::There(names) => names.clone(),
            Self::Count { kind, .. } => vec![indefinite(kind)],
            Self::Relations { subject, said } => {
                std::iter::once(*subject).chain(said.iter().map(|(_, name)| *name)).collect()
            }
            Self::At { subject, .. } => vec![*subject],
            Self::Only { name, .. } => vec![*name],
        }
    }

    /// The words of the caption, in order.
    pub(super) fn words(&self) -> Vec<Word> {
        let mut saying = Saying::default();
        match self {
            Self::There(names) => {
                saying.plain("there is");
                for (number, name) in names.iter().enumerate() {
                    match number {
                        0 => {}
                        _ if number + 1 == names.len() => saying.plain("and"),
                        _ => saying.plain(","),
                    }
                    saying.name(*name, number);
                }
            }
            Self::Count { number, kind } => {
                saying.plain(if *number == 1 { "there is" } else { "there are" });
                saying.naming(NUMBERS[(*number).clamp(1, NUMBERS.len()) - 1], 0);
                saying.kind(*kind, *number != 1, 0);
            }
            Self::Relations { subject, said } => {
                saying.name(*subject, 0);
                for (number, (relation, name)) in said.iter().enumerate() {
                    saying.plain(if number == 0 { "is" } else { "and" });
                    saying.plain(relation.word());
                    saying.name(*name, number + 1);
                }
            }
            Self::At { subject, place } => {
                saying.name(*subject, 0);
                saying.plain("is");
                saying.plain(place.word());
            }
            Self::Only { extreme, name } => {
                saying.plain("the");
                saying.naming(extreme.word(), 0);
                saying.naming("object", 0);
                saying.plain("is");
                saying.name(*name, 0);
            }
        }
        saying.0
    }
}

impl fmt::Display for Caption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&words::join(self.words().iter().map(|word| word.text)))
    }
}
