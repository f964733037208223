//! From the text of a caption back to what it says.

use super::caption::{Caption, Extreme, Kind, NUMBERS, Name, Place, Relation};
use super::things::{Colour, Shape, Size};
use crate::words;

/// Words that are yet to be read.
#[derive(Clone, Copy)]
struct Left<'a>(&'a [&'a str]);

impl<'a> Left<'a> {
    /// Takes these words, if they come next.
    fn take(&mut self, phrase: &str) -> Option<()> {
        let mut rest = self.0;
        for word in phrase.split(' ') {
            rest = rest.split_first().filter(|(first, _)| **first == word)?.1;
        }
        self.0 = rest;
        Some(())
    }

    /// Takes the next word, if it stands for something.
    fn said<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (first, rest) = self.0.split_first()?;
        let found = meaning(first)?;
        self.0 = rest;
        Some(found)
    }

    /// Takes one of several phrases.
    fn one_of<T: Copy>(&mut self, all: &[T], word: impl Fn(T) -> &'static str) -> Option<T> {
        all.iter().copied().find(|thing| self.take(word(*thing)).is_some())
    }

    fn kind(&mut self, several: bool) -> Option<Kind> {
        let size = self.said(Size::said);
        let colour = self.said(Colour::said);
        let noun = if several { "objects" } else { "object" };
        let shape = match self.take(noun) {
            Some(()) => None,
            None if several => {
                let plural = |word: &str| Shape::ALL.iter().copied().find(|shape| shape.plural() == word);
                Some(self.said(plural)?)
            }
            None => Some(self.said(Shape::said)?),
        };
        Some(Kind { size, colour, shape })
    }

    fn name(&mut self) -> Option<Name> {
        let definite = self.said(|word| match word {
            "the" => Some(true),
            "a" | "an" => Some(false),
            _ => None,
        })?;
        Some(Name { definite, kind: self.kind(false)? })
    }

    fn indefinite(&mut self) -> Option<Name> {
        self.name().filter(|name| !name.definite)
    }

    fn caption(&mut self) -> Option<Caption> {
        if self.take("there are").is_some() {
            let number = self.said(number)?;
            return Some(Caption::Count { number, kind: self.kind(true)? });
        }
        if self.take("there is one").is_some() {
            return Some(Caption::Count { number: 1, kind: self.kind(false)? });
        }
        if self.take("there is").is_some() {
            let mut names = vec![self.indefinite()?];
            while self.take(",").or_else(|| self.take("and")).is_some() {
                names.push(self.indefinite()?);
            }
            // More than a scene holds cannot be true, and would take long to try.
            return (names.len() <= NUMBERS.len()).then_some(Caption::There(names));
        }
        let before = *self;
        if self.take("the").is_some()
            && let Some(extreme) = self.one_of(Extreme::ALL, Extreme::word)
        {
            self.take("object is")?;
            return Some(Caption::Only { extreme, name: self.indefinite()? });
        }
        *self = before;
        let subject = self.name()?;
        self.take("is")?;
        if let Some(place) = self.one_of(Place::ALL, Place::word) {
            return Some(Caption::At { subject, place });
        }
        let mut said = vec![(self.one_of(Relation::ALL, Relation::word)?, self.name()?)];
        if self.take("and").is_some() {
            said.push((self.one_of(Relation::ALL, Relation::word)?, self.name()?));
        }
        Some(Caption::Relations { subject, said })
    }
}

/// Two to five; one has a sentence of its own.
fn number(word: &str) -> Option<usize> {
    NUMBERS.iter().position(|number| *number == word).map(|place| place + 1).filter(|number| *number > 1)
}

impl Caption {
    /// What a text says, if it is a caption of the grammar to the letter; space around it counts for nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let words = words::split(text);
        let mut left = Left(&words);
        let caption = left.caption()?;
        // Said again it must be the same: articles, commas and spaces are a part of the grammar.
        (left.0.is_empty() && caption.to_string() == text).then_some(caption)
    }
}
