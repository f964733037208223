//! Which captions are told of a scene.
//!
//! Every object that is spoken of is called by a kind that fits no other object of the scene, so that *a red
//! circle* and *the red circle* both mean one object, and the boxes of the words are its box.

use super::caption::{Caption, Extreme, Kind, NUMBERS, Name, Place, Relation};
use super::scene::Scene;
use super::things::Size;
use super::truth::Margin;
use crate::builtin::dice::Dice;
use crate::random::generator;

/// The stream of random numbers of captions, for each scene.
const STREAM: u64 = 1;

impl Scene {
    /// Up to `count` different captions that are true of the scene: always the same for the same objects. The first
    /// tells how two objects stand to each other, if there is anything clear to say, and speaks of an object of an
    /// unseen shape and colour, if there is one.
    pub fn captions(&self, count: usize) -> Vec<Caption> {
        let mut rng = generator(self.fingerprint(), STREAM);
        let mut dice = Dice(&mut rng);
        let mut told: Vec<Caption> = Vec::with_capacity(count.min(16));
        let mut claims = Vec::new();
        // After some tries in vain, what was said before is said in other words.
        let mut vain = 0;
        while told.len() < count && vain < 80 && !self.objects().is_empty() {
            let caption = match told.is_empty() {
                true => self.relation(&mut dice, true).or_else(|| self.place(&mut dice)),
                false => self.tell(&mut dice),
            };
            vain += 1;
            let Some(caption) = caption.or_else(|| self.list(&mut dice)) else { continue };
            let claim = self.claim(&caption);
            if !told.contains(&caption) && (vain > 20 || !claims.contains(&claim)) {
                told.push(caption);
                claims.push(claim);
                vain = 0;
            }
        }
        told
    }

    /// What a caption says, whatever it calls the objects.
    fn claim(&self, caption: &Caption) -> (Caption, Vec<Vec<usize>>) {
        let nameless = |_| Name { definite: false, kind: Kind::default() };
        let mut meaning = self.meaning(caption).unwrap_or_default();
        let said = match caption.clone() {
            Caption::There(names) => {
                meaning.sort_unstable();
                Caption::There(names.into_iter().map(nameless).collect())
            }
            Caption::Count { number, .. } => Caption::Count { number, kind: Kind::default() },
            Caption::Relations { subject, said } => Caption::Relations {
                subject: nameless(subject),
                said: said.into_iter().map(|(relation, name)| (relation, nameless(name))).collect(),
            },
            Caption::At { subject, place } => Caption::At { subject: nameless(subject), place },
            Caption::Only { extreme, name } => Caption::Only { extreme, name: nameless(name) },
        };
        (said, meaning)
    }

    fn tell(&self, dice: &mut Dice) -> Option<Caption> {
        match dice.below(100) {
            0..45 => self.relation(dice, false),
            45..60 => self.place(dice),
            60..72 => self.extreme(dice),
            72..86 => self.number(dice),
            _ => self.list(dice),
        }
    }

    /// A name that fits this object and no other.
    fn name(&self, object: usize, definite: bool, dice: &mut Dice) -> Option<Name> {
        let there = &self.objects()[object];
        let size = there.size.word().map(|_| there.size);
        // By how often they are said: shape and colour most, size alone seldom.
        let weights = [0, 8, 12, 40, 3, 5, 8, 24];
        let weights = if size.is_some() { &weights[..] } else { &weights[..4] };
        let kinds = weights.iter().enumerate().map(|(chosen, weight)| {
            let colour = (chosen & 1 != 0).then_some(there.colour);
            let shape = (chosen & 2 != 0).then_some(there.shape);
            (*weight, Kind { size: size.filter(|_| chosen & 4 != 0), colour, shape })
        });
        let fitting: Vec<(usize, Kind)> =
            kinds.filter(|(weight, kind)| *weight > 0 && self.of_kind(kind) == [object]).collect();
        (!fitting.is_empty()).then(|| Name { definite, kind: dice.weigh(&fitting) })
    }

    fn relation(&self, dice: &mut Dice, of_unseen: bool) -> Option<Caption> {
        let definite = dice.chance(30);
        let count = self.objects().len();
        let preferred: Vec<usize> =
            (0..count).filter(|object| of_unseen && self.objects()[*object].is_unseen()).collect();
        let subjects = if preferred.is_empty() { (0..count).collect() } else { preferred };
        let subject = *dice.pick(&subjects);
        let mut claims: Vec<(usize, (Relation, usize))> = Vec::new();
        for &relation in Relation::ALL {
            // What is seldom so is said when it is.
            let weight = match relation {
                Relation::InFrontOf | Relation::Behind => 6,
                Relation::LargerThan | Relation::SmallerThan => 1,
                _ => 3,
            };
            let others = (0..count).filter(|other| *other != subject);
            let held = others.filter(|other| self.holds(relation, subject, *other, Margin::Said));
            claims.extend(held.map(|other| (weight, (relation, other))));
        }
        if claims.is_empty() {
            return None;
        }
        let first = dice.weigh(&claims);
        let mut chosen = vec![first];
        claims.retain(|(_, (relation, other))| *relation != first.0 && *other != first.1);
        if dice.chance(25) && !claims.is_empty() {
            chosen.push(dice.weigh(&claims));
        }
        let subject = self.name(subject, definite, dice)?;
        let mut said = Vec::with_capacity(2);
        for (relation, other) in chosen {
            said.push((relation, self.name(other, definite, dice)?));
        }
        Some(Caption::Relations { subject, said })
    }

    fn place(&self, dice: &mut Dice) -> Option<Caption> {
        let all = Place::ALL.iter().flat_map(|place| (0..self.objects().len()).map(move |o| (*place, o)));
        let held: Vec<_> = all.filter(|(place, object)| self.is_at(*place, *object, Margin::Said)).collect();
        if held.is_empty() {
            return None;
        }
        let (place, object) = *dice.pick(&held);
        let definite = dice.chance(30);
        Some(Caption::At { subject: self.name(object, definite, dice)?, place })
    }

    fn extreme(&self, dice: &mut Dice) -> Option<Caption> {
        let all =
            Extreme::ALL.iter().flat_map(|extreme| (0..self.objects().len()).map(move |o| (*extreme, o)));
        let held: Vec<_> = all.filter(|(what, object)| self.is_only(*what, *object, Margin::Said)).collect();
        if held.is_empty() {
            return None;
        }
        let (extreme, object) = *dice.pick(&held);
        let there = &self.objects()[object];
        // Which object is meant is clear without a name that fits no other, and the size would say it twice.
        let kind = match dice.below(100) {
            0..15 => Kind { colour: Some(there.colour), ..Kind::default() },
            15..30 => Kind { shape: Some(there.shape), ..Kind::default() },
            _ => Kind { colour: Some(there.colour), shape: Some(there.shape), size: None },
        };
        Some(Caption::Only { extreme, name: Name { definite: false, kind } })
    }

    fn number(&self, dice: &mut Dice) -> Option<Caption> {
        let object = *dice.pick(self.objects());
        let kind = match dice.below(100) {
            0..40 => Kind::default(),
            40..70 => Kind { colour: Some(object.colour), ..Kind::default() },
            70..95 => Kind { shape: Some(object.shape), ..Kind::default() },
            _ => Kind { shape: Some(object.shape), colour: Some(object.colour), size: None },
        };
        let number = self.of_kind(&kind).len();
        (number <= NUMBERS.len()).then_some(Caption::Count { number, kind })
    }

    /// All objects, or two of them, in some order.
    fn list(&self, dice: &mut Dice) -> Option<Caption> {
        let mut left: Vec<usize> = (0..self.objects().len()).collect();
        let count = if left.len() <= 3 && dice.chance(60) { left.len() } else { left.len().min(2) };
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let object = left.swap_remove(dice.below(left.len()));
            let name = self.name(object, false, dice)?;
            // An object that is only called one would be any of them.
            let kind = match name.kind {
                Kind { shape: None, colour: None, .. } => {
                    let there = &self.objects()[object];
                    let size = Some(there.size).filter(|size| *size != Size::Medium);
                    Kind { size, colour: Some(there.colour), shape: Some(there.shape) }
                }
                kind => kind,
            };
            names.push(Name { definite: false, kind });
        }
        Some(Caption::There(names))
    }
}
