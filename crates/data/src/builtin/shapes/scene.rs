//! What a picture shows, before it is drawn: objects in a square of 1000 × 1000 units, and what lies behind them.

use super::background::Background;
use super::outline::{MOST_TURNS, REACH, contains, distance};
use super::things::{Colour, Shape, Size, held_out};
use crate::builtin::dice::Dice;

/// The side of a scene in units. Positions and radii are whole units, so that a scene is the same everywhere.
pub const UNITS: u16 = 1000;

/// The fewest and the most objects of a scene.
pub const OBJECTS: (usize, usize) = (2, 5);

/// The least share of an object that the ones before it leave to be seen.
const LEAST_SEEN: f32 = 0.75;

/// The most that the squares of all radii may sum to: beyond, a scene is crowded.
const MOST_AREA: u32 = 110_000;

/// How close two centres may come, in hundredths of the sum of both radii: objects that are apart (further than both
/// reach), and objects of which one may cover a part of the other.
const APART: i64 = 124;
const OVERLAPPING: i64 = 70;

/// Points from side to side of the square around an object at which is counted what hides it.
const SAMPLES: usize = 40;

/// An object of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its shape.
    pub shape: Shape,
    /// Its colour.
    pub colour: Colour,
    /// Its size.
    pub size: Size,
    /// Its radius in units, one of those of its size.
    pub radius: u16,
    /// Its centre, in units from the left.
    pub x: u16,
    /// Its centre, in units from the top.
    pub y: u16,
    /// How far it is turned, in steps of 5° clockwise.
    pub turn: i8,
    /// What is added to its colour, so that no two reds are quite the same.
    pub shade: i8,
}

impl Object {
    /// How far a point, in units, lies outside of it; negative inside.
    pub(super) fn distance(&self, x: f32, y: f32) -> f32 {
        let (x, y) = self.in_radii(x, y);
        distance(self.shape, self.turn, x, y) * f32::from(self.radius)
    }

    /// Whether a point, in units, lies inside of it.
    fn contains(&self, x: f32, y: f32) -> bool {
        let (x, y) = self.in_radii(x, y);
        contains(self.shape, self.turn, x, y)
    }

    /// A point, in units, as seen from the centre, in radii.
    fn in_radii(&self, x: f32, y: f32) -> (f32, f32) {
        let radius = f32::from(self.radius);
        ((x - f32::from(self.x)) / radius, (y - f32::from(self.y)) / radius)
    }

    /// Whether its shape and colour never come together in training.
    pub fn is_unseen(&self) -> bool {
        held_out(self.shape, self.colour)
    }

    /// The points of a fixed grid that lie inside it.
    fn points(&self) -> impl Iterator<Item = (f32, f32)> + '_ {
        let reach = f32::from(self.radius) * REACH;
        let at = move |n: usize| ((n as f32 + 0.5) / SAMPLES as f32 * 2.0 - 1.0) * reach;
        let (x, y) = (f32::from(self.x), f32::from(self.y));
        (0..SAMPLES)
            .flat_map(move |row| (0..SAMPLES).map(move |column| (x + at(column), y + at(row))))
            .filter(|(x, y)| self.contains(*x, *y))
    }

    /// Whether the squares around two objects meet at all.
    fn is_near(&self, other: &Self) -> bool {
        let reach = REACH * (f32::from(self.radius) + f32::from(other.radius));
        let apart = |a: u16, b: u16| f32::from(a.abs_diff(b));
        apart(self.x, other.x) < reach && apart(self.y, other.y) < reach
    }
}

/// A picture, before it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scene {
    objects: Vec<Object>,
    background: Background,
}

impl Scene {
    /// A scene of these objects, from the back to the front. For tests and pictures of one's own: what is drawn
    /// from a seed keeps rules that nobody asks for here.
    pub fn new(objects: Vec<Object>, background: Background) -> Self {
        Self { objects, background }
    }

    /// The objects, from the back to the front.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// What lies behind them.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Whether it has an object whose shape and colour never come together in training.
    pub fn is_unseen(&self) -> bool {
        self.objects.iter().any(Object::is_unseen)
    }

    /// The share of object `of` that object `by` covers; 0 unless `by` stands before it.
    pub fn hidden(&self, of: usize, by: usize) -> f32 {
        if by <= of || by >= self.objects.len() || !self.objects[of].is_near(&self.objects[by]) {
            return 0.0;
        }
        self.share(of, |x, y| self.objects[by].contains(x, y))
    }

    /// The share of an object that no other covers.
    pub fn seen(&self, object: usize) -> f32 {
        let before = &self.objects[object + 1..];
        if before.iter().all(|other| !other.is_near(&self.objects[object])) {
            return 1.0;
        }
        self.share(object, |x, y| !before.iter().any(|other| other.contains(x, y)))
    }

    fn share(&self, object: usize, holds: impl Fn(f32, f32) -> bool) -> f32 {
        let (mut all, mut held) = (0u32, 0u32);
        for (x, y) in self.objects[object].points() {
            all += 1;
            held += u32::from(holds(x, y));
        }
        held as f32 / all.max(1) as f32
    }

    /// A number that is the same for the same objects, whatever lies behind them. It decides the part of a scene,
    /// and its captions.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut number = self.objects.len() as u64;
        for object in &self.objects {
            let Object { shape, colour, size, radius, x, y, turn, shade } = *object;
            for value in [
                shape as u64,
                colour as u64,
                size as u64,
                radius.into(),
                x.into(),
                y.into(),
                turn as u8 as u64,
                shade as u8 as u64,
            ] {
                number = crate::random::mixed(number, value);
            }
        }
        number
    }

    /// A random scene of so many objects, or `None` if the draw did not come to one. With `unseen`, one of its objects
    /// has a shape and colour that are held out; else none has.
    pub(super) fn draw(dice: &mut Dice, count: usize, unseen: bool) -> Option<Self> {
        let special = unseen.then(|| dice.below(count));
        let mut kinds: Vec<Object> = Vec::with_capacity(count);
        for number in 0..count {
            let object = draw_object(dice, &kinds, special == Some(number));
            kinds.push(object);
        }
        let area: u32 = kinds.iter().map(|object| u32::from(object.radius).pow(2)).sum();
        if area > MOST_AREA {
            return None;
        }
        let mut objects: Vec<Object> = Vec::with_capacity(count);
        for object in kinds {
            objects.push(place(dice, &objects, object)?);
        }
        let background = Background::draw(dice, &objects)?;
        let scene = Self { objects, background };
        (0..count).all(|object| scene.seen(object) >= LEAST_SEEN).then_some(scene)
    }
}

/// An object that is nowhere yet, and can be told from the ones before: by shape or colour, or, if both are the
/// same, as the small one of the two or the large.
fn draw_object(dice: &mut Dice, before: &[Object], unseen: bool) -> Object {
    loop {
        // Now and then as before, so that there is something to count.
        let alike = (!before.is_empty()).then(|| *dice.pick(before));
        let shape = match alike {
            Some(other) if dice.chance(20) => other.shape,
            _ => *dice.pick(Shape::ALL),
        };
        let colour = match alike {
            Some(other) if dice.chance(30) => other.colour,
            _ => *dice.pick(Colour::ALL),
        };
        let size = *dice.pick(&Size::ALL);
        let (least, most) = size.radii();
        let radius = least + dice.below(usize::from(most - least) + 1) as u16;
        let turn = dice.below(2 * MOST_TURNS as usize + 1) as i8 - MOST_TURNS;
        let shade = dice.below(17) as i8 - 8;
        // A turn that nobody sees would make two scenes of one.
        let turn = if matches!(shape, Shape::Circle | Shape::Ring) { 0 } else { turn };
        let confused = |other: &Object| {
            (other.shape, other.colour) == (shape, colour)
                && (other.size == size || other.size == Size::Medium || size == Size::Medium)
        };
        if held_out(shape, colour) == unseen && !before.iter().any(confused) {
            return Object { shape, colour, size, radius, x: 0, y: 0, turn, shade };
        }
    }
}

/// Gives an object its place among those that stand there, or `None` if none was found.
fn place(dice: &mut Dice, before: &[Object], object: Object) -> Option<Object> {
    let overlapping = dice.chance(45);
    let edge = (f32::from(object.radius) * REACH) as u16 + 12;
    let room = usize::from(UNITS - 2 * edge) + 1;
    for _ in 0..30 {
        let (x, y) = (edge + dice.below(room) as u16, edge + dice.below(room) as u16);
        let fits = |other: &Object| {
            let (dx, dy) = (i64::from(other.x) - i64::from(x), i64::from(other.y) - i64::from(y));
            let reach = i64::from(other.radius) + i64::from(object.radius);
            // Objects of one colour would run into each other.
            let close = if overlapping && other.colour != object.colour { OVERLAPPING } else { APART };
            10_000 * (dx * dx + dy * dy) >= (close * reach).pow(2)
        };
        if before.iter().all(fits) {
            return Some(Object { x, y, ..object });
        }
    }
    None
}
