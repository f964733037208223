//! Spans in tagged text, such as names: precision, recall and F₁ of whole spans, as `seqeval` has them.
//!
//! A tag is `O`, outside of any span, or a letter and the type of the span, `B-PER`: B begins a span, I stands
//! inside, E ends it, S is a span of a single token. An answer is right if its first token, its last token
//! and its type are.
//!
//! A figure whose denominator is 0 is 0. Averages are over the types that occur in references or outputs:
//! *micro* all spans together, *macro* each type the same, *weighted* each as often as it is in the references.

use crate::classification::LabelCount;
use crate::figures::Figures;
use crate::input::{InputError, check_counts};
use std::collections::{BTreeMap, HashSet};

/// How tags make spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanScheme {
    /// Whatever the tags, every stretch that they can mean is a span, as in CoNLL's `conlleval`: I or E goes
    /// on with a span of its type that B or I left open, and otherwise begins one. Any other letter is read
    /// as I, and `.` as O.
    #[default]
    Lenient,
    /// B and then as many I of the same type as follow; any other I is outside.
    Iob2,
    /// S, or B, as many I as follow, and E, all of the same type; anything else is outside.
    Iobes,
}

/// Tokens `start..end` and their type, `_` where a tag has none.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Span<'a> {
    start: usize,
    end: usize,
    kind: &'a str,
}

/// Spans counted by type.
///
/// ```
/// # use gatto_metrics::{SpanCounts, SpanScheme};
/// let output = [vec!["B-PER", "I-PER", "O", "B-LOC"]];
/// let reference = [vec!["B-PER", "I-PER", "O", "B-ORG"]];
/// let found = SpanCounts::of(&output, &reference, SpanScheme::Lenient)?;
/// assert_eq!(found.micro_average().f1, 0.5);
/// # Ok::<(), gatto_metrics::InputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    types: BTreeMap<String, LabelCount>,
}

impl SpanCounts {
    /// Compares the tags of each line with those of its reference.
    pub fn of<O: AsRef<str>, R: AsRef<str>>(
        outputs: &[Vec<O>],
        references: &[Vec<R>],
        scheme: SpanScheme,
    ) -> Result<Self, InputError> {
        check_counts(outputs.len(), references.len())?;
        let mut found = Self::default();
        for (line, (output, reference)) in (1..).zip(outputs.iter().zip(references)) {
            let (outputs, references) = (output.len(), reference.len());
            if outputs != references {
                return Err(InputError::TagCounts { line, outputs, references });
            }
            found.count(&read(scheme, "output", line, output)?, &read(scheme, "reference", line, reference)?);
        }
        Ok(found)
    }

    fn count(&mut self, output: &[Span<'_>], reference: &[Span<'_>]) {
        let wanted: HashSet<&Span<'_>> = reference.iter().collect();
        for span in output {
            let count = self.of_type(span.kind);
            count.told += 1;
            count.right += usize::from(wanted.contains(span));
        }
        for span in reference {
            self.of_type(span.kind).gold += 1;
        }
    }

    fn of_type(&mut self, kind: &str) -> &mut LabelCount {
        self.types.entry(kind.to_owned()).or_default()
    }

    /// The types that occur, in the order of their names.
    pub fn types(&self) -> impl Iterator<Item = (&str, &LabelCount)> {
        self.types.iter().map(|(name, count)| (name.as_str(), count))
    }

    /// The mean over all types that occur.
    pub fn macro_average(&self) -> Figures {
        Figures::macro_average(self.types.values())
    }

    /// The mean over all types, each as often as it is in the references.
    pub fn weighted_average(&self) -> Figures {
        Figures::weighted_average(self.types.values())
    }

    /// All spans together: those told rightly, those told, and those of the references.
    pub fn total(&self) -> LabelCount {
        let mut sum = LabelCount::default();
        for LabelCount { right, told, gold } in self.types.values() {
            sum.right += right;
            sum.told += told;
            sum.gold += gold;
        }
        sum
    }

    /// The figures of all spans together.
    pub fn micro_average(&self) -> Figures {
        Figures::micro_average(self.types.values())
    }
}

/// What a tag says of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Outside,
    Begin,
    Inside,
    End,
    Single,
}

/// A tag, read.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    letter: Letter,
    kind: &'a str,
}

impl Token<'_> {
    /// Whether a token goes on with the span of the one before.
    fn continues(&self, before: &Self) -> bool {
        let open = matches!(before.letter, Letter::Begin | Letter::Inside);
        open && matches!(self.letter, Letter::Inside | Letter::End) && self.kind == before.kind
    }
}

impl SpanScheme {
    /// Whether labels are tags of spans: each is O, or B, I, E or S with a hyphen and a type, and there is one
    /// that begins a span.
    ///
    /// ```
    /// # use gatto_metrics::SpanScheme;
    /// assert!(SpanScheme::has_tags(["B-PER", "I-PER", "O"]));
    /// assert!(!SpanScheme::has_tags(["NOUN", "INTJ", "SYM"]));
    /// ```
    pub fn has_tags<'a>(labels: impl IntoIterator<Item = &'a str>) -> bool {
        let mut begins = false;
        let all = labels.into_iter().all(|label| match label.split_once('-') {
            Some((letter @ ("B" | "I" | "E" | "S"), kind)) => {
                begins |= letter != "E";
                !kind.is_empty()
            }
            _ => label == "O",
        });
        all && begins
    }

    /// Reads a tag; `None` if the scheme does not have it.
    fn token(self, tag: &str) -> Option<Token<'_>> {
        let mut characters = tag.chars();
        let letter = match (characters.next()?, self) {
            ('O', _) => Letter::Outside,
            ('B', _) => Letter::Begin,
            ('I', _) => Letter::Inside,
            ('E', Self::Lenient | Self::Iobes) => Letter::End,
            ('S', Self::Lenient | Self::Iobes) => Letter::Single,
            ('.', Self::Lenient) => Letter::Outside,
            (_, Self::Lenient) => Letter::Inside,
            _ => return None,
        };
        let rest = characters.as_str();
        let kind = match self {
            Self::Lenient => rest.split_once('-').map_or(rest, |(_, kind)| kind),
            Self::Iob2 | Self::Iobes => rest.trim_matches('-'),
        };
        Some(Token { letter, kind: if kind.is_empty() { "_" } else { kind } })
    }

    fn letters(self) -> &'static str {
        match self {
            Self::Lenient | Self::Iobes => "B, I, O, E, S",
            Self::Iob2 => "B, I, O",
        }
    }

    /// Whether a run of tokens that go on with each other is a span, by its first letter and its last.
    fn is_span(self, first: Letter, last: Letter) -> bool {
        match self {
            Self::Lenient => first != Letter::Outside,
            Self::Iob2 => first == Letter::Begin,
            Self::Iobes => first == Letter::Single || (first == Letter::Begin && last == Letter::End),
        }
    }

    /// The spans of one line.
    fn spans<'a>(self, tokens: &[Token<'a>]) -> Vec<Span<'a>> {
        let mut spans = Vec::new();
        let mut start = 0;
        for run in tokens.chunk_by(|before, token| token.continues(before)) {
            let end = start + run.len();
            let (first, last) = (run[0], run[run.len() - 1]);
            if self.is_span(first.letter, last.letter) {
                spans.push(Span { start, end, kind: first.kind });
            }
            start = end;
        }
        spans
    }
}

/// The spans of a line of the output or the reference, or which tag is wrong.
fn read<'a, S: AsRef<str>>(
    scheme: SpanScheme,
    side: &'static str,
    line: usize,
    tags: &'a [S],
) -> Result<Vec<Span<'a>>, InputError> {
    let wrong = |position, tag: &str| InputError::Tag {
        side,
        line,
        position,
        tag: tag.to_owned(),
        allowed: scheme.letters(),
    };
    let read_tag = |(position, tag): (usize, &'a S)| {
        let tag = tag.as_ref();
        scheme.token(tag).ok_or_else(|| wrong(position, tag))
    };
    let tokens: Vec<Token<'a>> = (1..).zip(tags).map(read_tag).collect::<Result<_, _>>()?;
    Ok(scheme.spans(&tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCHEMES: [SpanScheme; 3] = [SpanScheme::Lenient, SpanScheme::Iob2, SpanScheme::Iobes];

    fn spans(scheme: SpanScheme, tags: &str) -> Vec<(usize, usize, String)> {
        let tags: Vec<&str> = tags.split_whitespace().collect();
        let spans = read(scheme, "output", 1, &tags).expect("tags of the scheme");
        spans.into_iter().map(|span| (span.start, span.end, span.kind.to_owned())).collect()
    }

    fn span(start: usize, end: usize, kind: &str) -> (usize, usize, String) {
        (start, end, kind.to_owned())
    }

    #[test]
    fn schemes_differ_in_what_is_malformed() {
        let tags = "I-A I-A I-B O B-A I-B B-C I-C";
        let lenient = [(0, 2, "A"), (2, 3, "B"), (4, 5, "A"), (5, 6, "B"), (6, 8, "C")];
        assert_eq!(
            spans(SpanScheme::Lenient, tags),
            lenient.map(|(start, end, kind)| span(start, end, kind))
        );
        assert_eq!(spans(SpanScheme::Iob2, tags), [span(4, 5, "A"), span(6, 8, "C")]);
        assert_eq!(spans(SpanScheme::Iobes, tags), []);
        let tags = "B-A I-A E-A E-A S-B I-B B-A E-B";
        assert_eq!(spans(SpanScheme::Iobes, tags), [span(0, 3, "A"), span(4, 5, "B")]);
        assert_eq!(spans(SpanScheme::Lenient, "B I X . O-A B-A-B"), [span(0, 3, "_"), span(5, 6, "A-B")]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let of = |output: &str, reference: &str, scheme| {
            let tags = |text: &str| [text.split(' ').map(str::to_owned).collect::<Vec<_>>()];
            SpanCounts::of(&tags(output), &tags(reference), scheme).expect_err("a mistake").to_string()
        };
        let error = of("O O", "O", SpanScheme::Lenient);
        assert_eq!(error, "line 1 has 2 tags but its reference has 1; tag every token once");
        let error = of("O B-A", "O E-A", SpanScheme::Iob2);
        assert!(error.starts_with("tag 2 of line 1 of the reference, `E-A`, does not begin"), "{error}");
        assert!(of("", "O", SpanScheme::Lenient).contains("of the output, ``"));
        let error = SpanCounts::of(&[vec!["O"]], &[] as &[Vec<&str>], SpanScheme::Lenient);
        assert_eq!(error, Err(InputError::Counts { outputs: 1, references: 0 }));
    }

    proptest! {
        #[test]
        fn figures_keep_to_their_bounds(
            lines in prop::collection::vec(prop::collection::vec(("O|[BI]-[AB]", "O|[BI]-[ABC]"), 0..12), 0..5),
        ) {
            let (outputs, references): (Vec<Vec<_>>, Vec<Vec<_>>) =
                lines.into_iter().map(|line| line.into_iter().unzip()).unzip();
            for scheme in SCHEMES {
                let found = SpanCounts::of(&outputs, &references, scheme).expect("tags of the scheme");
                for figures in [found.micro_average(), found.macro_average(), found.weighted_average()] {
                    for value in [figures.precision, figures.recall, figures.f1] {
                        prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{}", value);
                    }
                }
                let same = SpanCounts::of(&references, &references, scheme).expect("tags of the scheme");
                let any = f64::from(same.types().count() > 0);
                prop_assert_eq!((same.micro_average().f1, same.macro_average().f1), (any, any));
            }
        }

        #[test]
        fn any_tags_have_lenient_spans(tags in prop::collection::vec("\\PC{1,4}|[BIESO]-?[A-]{0,2}", 0..12)) {
            let found = read(SpanScheme::Lenient, "output", 1, &tags).expect("no empty tags");
            prop_assert!(found.iter().all(|span| span.start < span.end && span.end <= tags.len()));
        }
    }
}
