//! Noun phrases and what stands before them: determiners, adjectives, prepositions.

use super::italian::{Gender, Number, Simple, definite, form, indefinite, onset, prenominal, that, this};
use super::lexicon::{Adjective, Idiom, Name, Noun};
use super::nouns::FAMILY;
use super::tokens::{Fragment, Meaning, Meanings};

/// What opens a noun phrase.
#[derive(Clone, Copy, Debug)]
pub(super) enum Determiner {
    The,
    A,
    This,
    That,
    Every,
    Some,
    Many,
    Few,
    AllThe,
    Count(&'static Idiom),
    TheCount(&'static Idiom),
    Possessive(Owner),
}

/// Whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    My,
    Your,
    His,
    Her,
    Our,
    Their,
}

impl Owner {
    pub(super) const ALL: [Self; 6] = [Self::My, Self::Your, Self::His, Self::Her, Self::Our, Self::Their];

    fn english(self) -> &'static str {
        ["my", "your", "his", "her", "our", "their"][self as usize]
    }

    fn italian(self, gender: Gender, number: Number) -> &'static str {
        const SUO: [&str; 4] = ["suo", "sua", "suoi", "sue"];
        const FORMS: [[&str; 4]; 6] = [
            ["mio", "mia", "miei", "mie"],
            ["tuo", "tua", "tuoi", "tue"],
            SUO,
            SUO,
            ["nostro", "nostra", "nostri", "nostre"],
            ["loro"; 4],
        ];
        FORMS[self as usize][form(gender, number)]
    }
}

/// A noun with all that belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Nominal {
    pub(super) determiner: Determiner,
    pub(super) before: Option<&'static Adjective>,
    pub(super) noun: &'static Noun,
    pub(super) number: Number,
    /// With its degree: *very tall*.
    pub(super) after: Option<(Option<&'static Idiom>, &'static Adjective)>,
    pub(super) attachment: Option<Box<Prepositional>>,
}

/// A noun phrase.
#[derive(Clone, Debug)]
pub(super) enum NounPhrase {
    Common(Nominal),
    Name(&'static Name),
    /// Two of them, with *and* or *or*.
    Both(Box<NounPhrase>, Joint, Box<NounPhrase>),
}

/// What joins two phrases or two clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
    But,
    Because,
    While,
    When,
}

impl Joint {
    /// Appends the joint before something whose Italian begins with `next`.
    pub(super) fn write(self, next: &str, out: &mut Fragment, meanings: &mut Meanings) {
        let meaning = meanings.fresh();
        out.english(["and", "or", "but", "because", "while", "when"][self as usize], meaning);
        let italian = match self {
            Self::And if next.starts_with(['e', 'è']) => "ed",
            _ => ["e", "o", "ma", "perché", "mentre", "quando"][self as usize],
        };
        out.italian(italian, meaning);
    }
}

/// A preposition of both languages. `lead` is the Italian word before the simple preposition
/// (*vicino a*) or, where there is no simple one, the whole of it (*con*).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Preposition {
    pub(super) english: &'static [&'static str],
    lead: Option<&'static str>,
    simple: Option<Simple>,
}

const fn preposition(
    english: &'static [&'static str],
    lead: Option<&'static str>,
    simple: Option<Simple>,
) -> Preposition {
    Preposition { english, lead, simple }
}

pub(super) static ON: Preposition = preposition(&["on"], None, Some(Simple::Su));
pub(super) static IN: Preposition = preposition(&["in"], None, Some(Simple::In));
pub(super) static TO: Preposition = preposition(&["to"], None, Some(Simple::A));
pub(super) static AT: Preposition = preposition(&["at"], None, Some(Simple::A));
pub(super) static OF: Preposition = preposition(&["of"], None, Some(Simple::Di));
pub(super) static ABOUT: Preposition = preposition(&["about"], None, Some(Simple::Di));
pub(super) static FROM: Preposition = preposition(&["from"], None, Some(Simple::Da));
pub(super) static WITH: Preposition = preposition(&["with"], Some("con"), None);
pub(super) static WITHOUT: Preposition = preposition(&["without"], Some("senza"), None);
pub(super) static FOR: Preposition = preposition(&["for"], Some("per"), None);
pub(super) static UNDER: Preposition = preposition(&["under"], Some("sotto"), None);
pub(super) static BEHIND: Preposition = preposition(&["behind"], Some("dietro"), None);
pub(super) static NEAR: Preposition = preposition(&["near"], Some("vicino"), Some(Simple::A));
pub(super) static FRONT: Preposition = preposition(&["in", "front", "of"], Some("davanti"), Some(Simple::A));
pub(super) static BESIDE: Preposition = preposition(&["next", "to"], Some("accanto"), Some(Simple::A));
pub(super) static FAR: Preposition = preposition(&["far", "from"], Some("lontano"), Some(Simple::Da));

/// A preposition with its noun phrase.
#[derive(Clone, Debug)]
pub(super) struct Prepositional {
    pub(super) preposition: &'static Preposition,
    pub(super) phrase: NounPhrase,
}

impl Prepositional {
    /// Both languages.
    pub(super) fn realise(&self, meanings: &mut Meanings) -> Fragment {
        let meaning = meanings.fresh();
        let mut out = Fragment::default();
        for word in self.preposition.english {
            out.english(word, meaning);
        }
        if let Some(lead) = self.preposition.lead {
            out.italian(lead, meaning);
        }
        out.append(self.phrase.realise(self.preposition.simple.map(|simple| (simple, meaning)), meanings));
        out
    }
}

impl NounPhrase {
    /// Both languages; in Italian after the simple preposition `case`, which expresses its meaning.
    pub(super) fn realise(&self, case: Option<(Simple, Meaning)>, meanings: &mut Meanings) -> Fragment {
        match self {
            Self::Common(nominal) => nominal.realise(case, meanings),
            Self::Name(name) => {
                let mut out = Fragment::default();
                if let Some((simple, meaning)) = case {
                    out.italian(simple.alone(name.text), meaning);
                }
                let meaning = meanings.fresh();
                out.english(name.text, meaning);
                out.italian(name.text, meaning);
                out
            }
            Self::Both(left, joint, right) => {
                let mut out = left.realise(case, meanings);
                let right = right.realise(case, meanings);
                joint.write(right.italian.first().map_or("", |token| token.text), &mut out, meanings);
                out.append(right);
                out
            }
        }
    }

    /// Gender and number, for whatever agrees. A mixed pair is masculine.
    pub(super) fn agreement(&self) -> (Gender, Number) {
        match self {
            Self::Common(nominal) => (nominal.noun.gender(nominal.number), nominal.number),
            Self::Name(name) => (name.gender, Number::Singular),
            Self::Both(left, _, right) => {
                let both = left.agreement().0 == Gender::Feminine && right.agreement().0 == Gender::Feminine;
                (if both { Gender::Feminine } else { Gender::Masculine }, Number::Plural)
            }
        }
    }
}

impl Nominal {
    fn realise(&self, case: Option<(Simple, Meaning)>, meanings: &mut Meanings) -> Fragment {
        let mut out = Fragment::default();
        let [article, quantity, before, noun] = std::array::from_fn(|_| meanings.fresh());
        let number = self.number as usize;
        let (gender, noun_text) = (self.noun.gender(self.number), self.noun.italian[number].as_str());
        let adjective = self
            .before
            .map(|adjective| prenominal(&adjective.italian, gender, self.number, onset(noun_text)));

        self.open_english(self.first_english(), article, quantity, &mut out);
        self.open_italian(adjective.unwrap_or(noun_text), case, article, quantity, &mut out);
        if let (Some(english), Some(italian)) = (self.before, adjective) {
            out.english(english.english, before);
            out.italian(italian, before);
        }
        out.italian(noun_text, noun);
        if let Some((degree, adjective)) = self.after {
            if let Some(degree) = degree {
                out.idiom(degree, meanings);
            }
            let meaning = meanings.fresh();
            out.english(adjective.english, meaning);
            out.italian(&adjective.italian[form(gender, self.number)], meaning);
        }
        out.english(&self.noun.english[number], noun);
        if let Some(attachment) = &self.attachment {
            out.append(attachment.realise(meanings));
        }
        out
    }

    /// The English word that follows the determiner.
    fn first_english(&self) -> &'static str {
        match (self.before, self.after) {
            (Some(adjective), _) | (None, Some((None, adjective))) => adjective.english,
            (None, Some((Some(degree), _))) => degree.english[0].0,
            (None, None) => &self.noun.english[self.number as usize],
        }
    }

    /// The determiner before the English word `next`.
    fn open_english(&self, next: &str, article: Meaning, quantity: Meaning, out: &mut Fragment) {
        let plural = self.number == Number::Plural;
        match self.determiner {
            Determiner::The => out.english("the", article),
            Determiner::A if next.starts_with(['a', 'e', 'i', 'o', 'u']) => out.english("an", article),
            Determiner::A => out.english("a", article),
            Determiner::This => out.english(if plural { "these" } else { "this" }, article),
            Determiner::That => out.english(if plural { "those" } else { "that" }, article),
            Determiner::Every => out.english("every", quantity),
            Determiner::Some => out.english("some", quantity),
            Determiner::Many => out.english("many", quantity),
            Determiner::Few => out.english("few", quantity),
            Determiner::AllThe => {
                out.english("all", quantity);
                out.english("the", article);
            }
            Determiner::Count(number) => out.english(number.english[0].0, quantity),
            Determiner::TheCount(number) => {
                out.english("the", article);
                out.english(number.english[0].0, quantity);
            }
            Determiner::Possessive(owner) => out.english(owner.english(), article),
        }
    }

    /// The preposition `case` and the determiner before the Italian word `next`.
    fn open_italian(
        &self,
        next: &'static str,
        case: Option<(Simple, Meaning)>,
        article: Meaning,
        quantity: Meaning,
        out: &mut Fragment,
    ) {
        let (gender, number) = (self.noun.gender(self.number), self.number);
        let (agreeing, follows) = (form(gender, number), onset(next));
        match self.determiner {
            Determiner::The => self.article(next, case, article, out),
            Determiner::A => apart(indefinite(gender, follows), case, article, out),
            Determiner::This => apart(this(gender, number, follows), case, article, out),
            Determiner::That => apart(that(gender, number, follows), case, article, out),
            Determiner::Every => apart("ogni", case, quantity, out),
            Determiner::Some => apart(Simple::Di.articulated(gender, number, follows), case, quantity, out),
            Determiner::Many => apart(["molto", "molta", "molti", "molte"][agreeing], case, quantity, out),
            Determiner::Few => apart(["poco", "poca", "pochi", "poche"][agreeing], case, quantity, out),
            Determiner::AllThe => {
                apart(["tutto", "tutta", "tutti", "tutte"][agreeing], case, quantity, out);
                self.article(next, None, article, out);
            }
            Determiner::Count(count) => apart(count.italian[0].0, case, quantity, out),
            Determiner::TheCount(count) => {
                self.article(count.italian[0].0, case, article, out);
                out.italian(count.italian[0].0, quantity);
            }
            Determiner::Possessive(owner) => {
                let mine = owner.italian(gender, number);
                if self.is_bare_relative(owner) {
                    return apart(mine, case, article, out);
                }
                self.article(mine, case, article, out);
                out.italian(mine, article);
            }
        }
    }

    /// *Mio padre*, but *il mio vecchio padre*, *i miei fratelli*, *il loro padre*.
    fn is_bare_relative(&self, owner: Owner) -> bool {
        self.noun.is(FAMILY)
            && self.number == Number::Singular
            && owner != Owner::Their
            && self.before.is_none()
            && self.after.is_none()
    }

    /// The definite article before `next`, melted with the preposition `case`.
    fn article(&self, next: &str, case: Option<(Simple, Meaning)>, article: Meaning, out: &mut Fragment) {
        let (gender, number) = (self.noun.gender(self.number), self.number);
        match case {
            Some((simple, meaning)) => {
                out.italian(simple.articulated(gender, number, onset(next)), meaning | article);
            }
            None => out.italian(definite(gender, number, onset(next)), article),
        }
    }
}

/// A determiner that stays apart from the preposition `case`: *di un*, *a questo*.
fn apart(text: &'static str, case: Option<(Simple, Meaning)>, meaning: Meaning, out: &mut Fragment) {
    if let Some((simple, meaning)) = case {
        out.italian(simple.alone(text), meaning);
    }
    out.italian(text, meaning);
}
