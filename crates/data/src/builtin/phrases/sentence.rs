//! Whole sentences: statements, joined clauses, questions.

use super::clause::{Clause, Order, Verbal};
use super::italian::{Number, form};
use super::lexicon::Noun;
use super::noun_phrase::Joint;
use super::tokens::{Fragment, Meanings, Token};

/// A derivation of the grammar.
#[derive(Clone, Debug)]
pub(super) enum Sentence {
    Statement(Clause),
    Joined(Box<Clause>, Joint, Box<Clause>),
    /// *does the cat sleep?*
    YesNo(Clause),
    Question(QuestionWord, Verbal),
}

/// What a question asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum QuestionWord {
    /// The subject, which is then [`super::clause::Subject::Who`].
    Subject,
    Whom,
    What,
    Where,
    When,
    Why,
    How,
    HowMany(&'static Noun),
    Which(&'static Noun, Number),
}

impl QuestionWord {
    /// Writes the question word in both languages; `verb` is the Italian word after it.
    fn write(self, verb: &str, out: &mut Fragment, meanings: &mut Meanings) {
        let meaning = meanings.fresh();
        let (english, italian) = match self {
            Self::Subject => return,
            Self::Whom => ("who", "chi"),
            Self::What => ("what", "cosa"),
            Self::Where if matches!(verb, "è" | "era") => ("where", "dov'"),
            Self::Where => ("where", "dove"),
            Self::When => ("when", "quando"),
            Self::Why => ("why", "perché"),
            Self::How => ("how", "come"),
            Self::HowMany(noun) => {
                out.english("how", meaning);
                ("many", ["quanti", "quante"][form(noun.gender(Number::Plural), Number::Singular)])
            }
            Self::Which(_, Number::Singular) => ("which", "quale"),
            Self::Which(_, Number::Plural) => ("which", "quali"),
        };
        out.english(english, meaning);
        if matches!(self, Self::What) {
            out.italian("che", meaning);
        }
        out.italian(italian, meaning);
        let (noun, number) = match self {
            Self::HowMany(noun) => (noun, Number::Plural),
            Self::Which(noun, number) => (noun, number),
            _ => return,
        };
        let meaning = meanings.fresh();
        out.english(&noun.english[number as usize], meaning);
        out.italian(&noun.italian[number as usize], meaning);
    }

    fn order(self) -> Order {
        match self {
            Self::Subject => Order::Statement,
            Self::Why => Order::Inverted,
            _ => Order::SubjectLast,
        }
    }
}

impl Sentence {
    /// The words of both languages.
    pub(super) fn realise(&self) -> Fragment {
        let meanings = &mut Meanings::default();
        let mut out = Fragment::default();
        match self {
            Self::Statement(clause) => out = clause.realise(Order::Statement, meanings),
            Self::Joined(left, joint, right) => {
                out = left.realise(Order::Statement, meanings);
                let right = right.realise(Order::Statement, meanings);
                joint.write(right.italian.first().map_or("", |token| token.text), &mut out, meanings);
                out.append(right);
            }
            Self::YesNo(clause) => {
                out = clause.realise(Order::Inverted, meanings);
                ask(&mut out, meanings);
            }
            Self::Question(word, clause) => {
                let clause = clause.realise(word.order(), meanings);
                word.write(clause.italian.first().map_or("", |token| token.text), &mut out, meanings);
                out.append(clause);
                ask(&mut out, meanings);
            }
        }
        out
    }
}

fn ask(out: &mut Fragment, meanings: &mut Meanings) {
    let mark = Token { text: "?", meaning: meanings.fresh() };
    out.english.push(mark);
    out.italian.push(mark);
}
