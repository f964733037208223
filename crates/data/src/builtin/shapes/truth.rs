//! Whether a caption is true of a scene, and of which objects it speaks.
//!
//! | what is said | when it is true | when it is said of a drawn scene |
//! |---|---|---|
//! | *left of*, *right of*, *above*, *below* | centres at least 120 units apart that way, and within 60° of it | 150 units, within 45° |
//! | *larger than*, *smaller than* | one radius is at least 5/4 of the other | the same: sizes have gaps |
//! | *in front of*, *behind* | one covers at least 8 % of the other | 12 % |
//! | *on the left* and the like | the centre is in the first 400 of 1000 units | 330 |
//! | *largest*, *smallest* | 5/4 of each other object's radius, or 4/5 | the same |
//! | *leftmost* and the like | by at least 60 units | 100 |
//!
//! So that what is said can be seen without measuring, and what a person would say in a case less clear is not
//! called wrong.

use super::caption::{Caption, Extreme, Kind, Name, Place, Relation};
use super::scene::{Object, Scene, UNITS};

/// How clear something must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Margin {
    /// Clear enough not to be wrong.
    True,
    /// Clear enough to be said.
    Said,
}

impl Margin {
    fn of<T>(self, true_from: T, said_from: T) -> T {
        match self {
            Self::True => true_from,
            Self::Said => said_from,
        }
    }
}

impl Kind {
    /// Whether an object is of this kind.
    pub fn fits(&self, object: &Object) -> bool {
        self.size.is_none_or(|size| size == object.size)
            && self.colour.is_none_or(|colour| colour == object.colour)
            && self.shape.is_none_or(|shape| shape == object.shape)
    }
}

/// What a judge of captions finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that it says is so.
    True,
    /// Something that it says is not so.
    False,
    /// It is no sentence of the grammar.
    NoCaption,
}

impl Scene {
    /// The objects of a kind.
    pub fn of_kind(&self, kind: &Kind) -> Vec<usize> {
        (0..self.objects().len()).filter(|&object| kind.fits(&self.objects()[object])).collect()
    }

    /// The objects that a name may stand for: with `the`, only the only one.
    fn called(&self, name: &Name) -> Vec<usize> {
        let objects = self.of_kind(&name.kind);
        if name.definite && objects.len() != 1 { Vec::new() } else { objects }
    }

    /// Whether one object stands in a relation to another.
    pub(super) fn holds(&self, relation: Relation, a: usize, b: usize, margin: Margin) -> bool {
        let (first, second) = (&self.objects()[a], &self.objects()[b]);
        // How far the second lies to the right of the first, and below it.
        let across = i32::from(second.x) - i32::from(first.x);
        let down = i32::from(second.y) - i32::from(first.y);
        // 7/4 is the tangent of 60.3°.
        let lies = |along: i32, aside: i32| {
            along >= margin.of(120, 150) && 4 * aside.abs() <= margin.of(7, 4) * along
        };
        let covers = |of, by| self.hidden(of, by) >= margin.of(0.08, 0.12);
        match relation {
            Relation::LeftOf => lies(across, down),
            Relation::RightOf => lies(-across, down),
            Relation::Above => lies(down, across),
            Relation::Below => lies(-down, across),
            Relation::LargerThan => is_larger(first, second),
            Relation::SmallerThan => is_larger(second, first),
            Relation::InFrontOf => covers(b, a),
            Relation::Behind => covers(a, b),
        }
    }

    /// Whether an object is in a part of the picture.
    pub(super) fn is_at(&self, place: Place, object: usize, margin: Margin) -> bool {
        let Object { x, y, .. } = self.objects()[object];
        let from_side = match place {
            Place::Left => x,
            Place::Right => UNITS.saturating_sub(x),
            Place::Top => y,
            Place::Bottom => UNITS.saturating_sub(y),
        };
        from_side <= margin.of(400, 330)
    }

    /// Whether an object is what only one can be.
    pub(super) fn is_only(&self, extreme: Extreme, object: usize, margin: Margin) -> bool {
        let first = &self.objects()[object];
        let gap = margin.of(60, 100);
        let beyond = |second: &Object| match extreme {
            Extreme::Largest => is_larger(first, second),
            Extreme::Smallest => is_larger(second, first),
            Extreme::Leftmost => first.x.saturating_add(gap) <= second.x,
            Extreme::Rightmost => second.x.saturating_add(gap) <= first.x,
            Extreme::Highest => first.y.saturating_add(gap) <= second.y,
            Extreme::Lowest => second.y.saturating_add(gap) <= first.y,
        };
        self.objects().iter().enumerate().all(|(number, second)| number == object || beyond(second))
    }

    /// The objects that each name of a caption stands for, if all that it says is so. Where several choices would
    /// make it true, the first.
    pub fn meaning(&self, caption: &Caption) -> Option<Vec<Vec<usize>>> {
        match caption {
            Caption::There(names) => {
                let choices: Vec<Vec<usize>> = names.iter().map(|name| self.called(name)).collect();
                let mut chosen = Vec::new();
                all_different(&choices, &mut chosen)
                    .then(|| chosen.into_iter().map(|object| vec![object]).collect())
            }
            Caption::Count { number, kind } => {
                let objects = self.of_kind(kind);
                (objects.len() == *number && *number > 0).then(|| vec![objects])
            }
            Caption::Relations { subject, said } => self.called(subject).into_iter().find_map(|object| {
                let mut meaning = vec![vec![object]];
                for (relation, name) in said {
                    let fits = |other: &usize| {
                        *other != object && self.holds(*relation, object, *other, Margin::True)
                    };
                    meaning.push(vec![self.called(name).into_iter().find(fits)?]);
                }
                Some(meaning)
            }),
            Caption::At { subject, place } => {
                let mut objects = self.called(subject).into_iter();
                let found = objects.find(|object| self.is_at(*place, *object, Margin::True));
                found.map(|object| vec![vec![object]])
            }
            Caption::Only { extreme, name } => {
                let mut objects = self.called(name).into_iter();
                let found = objects.find(|object| self.is_only(*extreme, *object, Margin::True));
                found.map(|object| vec![vec![object]])
            }
        }
    }

    /// Judges the text of a caption.
    pub fn verdict(&self, text: &str) -> Verdict {
        match Caption::parse(text).map(|caption| self.meaning(&caption)) {
            Some(Some(_)) => Verdict::True,
            Some(None) => Verdict::False,
            None => Verdict::NoCaption,
        }
    }
}

/// Whether a text is a caption of the grammar of which everything is true of the scene.
pub fn is_true(scene: &Scene, text: &str) -> bool {
    scene.verdict(text) == Verdict::True
}

fn is_larger(first: &Object, second: &Object) -> bool {
    4 * u32::from(first.radius) >= 5 * u32::from(second.radius)
}

/// Chooses one of each, no two the same; there are few.
fn all_different(choices: &[Vec<usize>], chosen: &mut Vec<usize>) -> bool {
    let Some((first, rest)) = choices.split_first() else { return true };
    for &object in first {
        if !chosen.contains(&object) {
            chosen.push(object);
            if all_different(rest, chosen) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}
