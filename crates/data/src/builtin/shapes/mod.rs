//! Pictures of a few objects, and what can be said of them.
//!
//! A [`Scene`] is drawn from a seed: two to five objects on a background with noise. Each object has one of eight
//! shapes, eight colours and three sizes, and a place of its own; some cover a part of others. The scene is drawn
//! as an image of 64 × 64 to 224 × 224 pixels ([`Scene::drawn`]), and captions are told of it
//! ([`Scene::captions`]), in which every word that says what an object is knows the object's box.
//!
//! | asked ([`Asked`]) | text of an example |
//! |---|---|
//! | `Captions(5)` | five captions, as *a small red triangle is left of a blue circle* |
//! | `LargestShape`, `LargestColour`, `Largest` | a label of the largest object: *circle*, *red*, *red circle* |
//! | `Count` | a label, how many objects there are: *two* to *five* |
//! | `CountOf(colour)` | a label, how many have that colour: *no*, *one* to *five* |
//!
//! # What a scene keeps to
//!
//! - Sizes are small (a radius of 85 to 100 thousandths of the side), medium (128 to 142) and large (180 to 205):
//!   whoever looks sees which. No word is said for medium.
//! - All of an object is inside the picture, and at least 75 % of it is not covered by others. Objects that touch
//!   have different colours.
//! - Two objects of the same shape and colour are a small and a large one. So each can be called by a name that fits
//!   no other, and is, wherever a caption speaks of one object.
//! - The background has quiet colours, lighter or darker than every object.
//! - Where the largest object is asked for, there is one: its radius is at least 5/4 of every other.
//!
//! # What a caption keeps to
//!
//! Captions have a grammar (module `caption`), and a judge: [`is_true`] reads any text, and says whether it is a
//! caption of the grammar and everything in it is true of the scene. A caption that was told is always true. What
//! is told is clearer than what is accepted (module `truth`): *left of* is told when centres are 150 thousandths
//! apart and within 45° of that direction, and still true at 120 thousandths and 60°.
//!
//! # Parts
//!
//! To which part a scene belongs is decided by its objects alone, so that no scene is in two. Each shape has one
//! colour that it never has in `train`, `valid` and `test` ([`held_out`]); in every scene of `unseen` exactly one
//! object has such a combination. Positions and radii are whole thousandths of the side, and nothing but
//! additions, multiplications, divisions and square roots is computed, so that an example is the same on every
//! machine.
//!
//! ```
//! use gatto_data::builtin::shapes::{Asked, ScenePart, Shapes, is_true};
//!
//! let shapes = Shapes::new(64, Asked::Captions(5))?;
//! let scene = shapes.scene(1, ScenePart::Train, 0)?;
//! let example = shapes.example(1, ScenePart::Train, 0)?;
//! assert!(example.texts.iter().all(|text| is_true(&scene, &text.text)));
//! # Ok::<(), gatto_data::builtin::shapes::ShapesError>(())
//! ```

mod background;
mod caption;
mod drawing;
mod outline;
mod parse;
mod scene;
mod tell;
mod things;
mod truth;

#[cfg(test)]
mod tests;

pub use background::{Background, Pattern};
pub use caption::{Caption, Extreme, Kind, Name, Place, Relation};
pub use drawing::Drawing;
pub use scene::{OBJECTS, Object, Scene, UNITS};
pub use things::{Colour, Shape, Size, held_out};
pub use truth::{Verdict, is_true};

use serde::{Deserialize, Serialize};

use super::dice::Dice;
use crate::images::{ImageExample, ImageSet, ImageText, Mention, PixelBox};
use crate::random::{generator, mixed};
use crate::{DataError, Part};

/// A part of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenePart {
    /// The parameters are fitted to these.
    Train,
    /// Settings are chosen, and training is stopped, by these.
    Valid,
    /// Figures are reported on these.
    Test,
    /// Scenes with a shape and a colour that never come together in the other parts.
    Unseen,
}

impl ScenePart {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Train, Self::Valid, Self::Test, Self::Unseen];

    /// The part that a scene belongs to: of a thousand scenes without an unseen combination about 940 train,
    /// 30 valid, 30 test.
    pub fn of(scene: &Scene) -> Self {
        match mixed(scene.fingerprint(), PART) % 1000 {
            _ if scene.is_unseen() => Self::Unseen,
            0..940 => Self::Train,
            940..970 => Self::Valid,
            _ => Self::Test,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
            Self::Unseen => "unseen",
        }
    }
}

impl From<Part> for ScenePart {
    fn from(part: Part) -> Self {
        match part {
            Part::Train => Self::Train,
            Part::Valid => Self::Valid,
            Part::Test => Self::Test,
        }
    }
}

/// What the text of an example is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// So many captions at most, from one to [`Shapes::MOST_CAPTIONS`]; a bare scene may have fewer.
    Captions(usize),
    /// The shape of the largest object.
    LargestShape,
    /// The colour of the largest object.
    LargestColour,
    /// The colour and shape of the largest object.
    Largest,
    /// How many objects there are.
    Count,
    /// How many objects of a colour there are.
    CountOf(Colour),
}

/// Why the task, or an example of it, cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapesError {
    /// Too few or too many pixels.
    #[error("scenes are drawn with sides of {} to {} pixels, not {side}", Shapes::SIDES.0, Shapes::SIDES.1)]
    Side {
        /// The side that was asked for.
        side: usize,
    },
    /// Too few or too many captions.
    #[error("a scene has 1 to {} captions, not {captions}", Shapes::MOST_CAPTIONS)]
    Captions {
        /// How many were asked for.
        captions: usize,
    },
    /// No scene of the part was drawn. It takes more bad luck than there is.
    #[error("no scene of the part {} was found among {DRAWS} draws; take another seed", part.name())]
    NoScene {
        /// The part.
        part: ScenePart,
    },
}

/// How many scenes are drawn before a part counts as empty.
const DRAWS: usize = 20_000;
/// What the hash that decides parts starts from.
const PART: u64 = 0x5ca1e;
/// What a seed is mixed with, so that this task has random numbers of its own.
const SEED: u64 = 0x5a9e5;

/// The task: how large its images are, and what is asked about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shapes {
    side: usize,
    asked: Asked,
}

impl Shapes {
    /// The fewest and the most pixels from side to side.
    pub const SIDES: (usize, usize) = (64, 224);
    /// The most captions of a scene.
    pub const MOST_CAPTIONS: usize = 16;

    /// The task with images of `side` × `side` pixels.
    ///
    /// # Errors
    /// If the side is not one of [`Shapes::SIDES`], or captions are none or too many.
    pub fn new(side: usize, asked: Asked) -> Result<Self, ShapesError> {
        if !(Self::SIDES.0..=Self::SIDES.1).contains(&side) {
            return Err(ShapesError::Side { side });
        }
        match asked {
            Asked::Captions(captions) if !(1..=Self::MOST_CAPTIONS).contains(&captions) => {
                Err(ShapesError::Captions { captions })
            }
            _ => Ok(Self { side, asked }),
        }
    }

    /// Pixels from side to side.
    pub fn side(&self) -> usize {
        self.side
    }

    /// What is asked.
    pub fn asked(&self) -> Asked {
        self.asked
    }

    /// Scene `index` of a part: always the same for the same `seed`, whatever the size of the image. It is also the
    /// same whatever is asked, except that questions about the largest object pass over scenes without one.
    ///
    /// # Errors
    /// If none was found, which does not happen.
    pub fn scene(&self, seed: u64, part: ScenePart, index: u64) -> Result<Scene, ShapesError> {
        let stream = index.wrapping_mul(4).wrapping_add(part as u64);
        let mut rng = generator(mixed(seed, SEED), stream);
        let mut dice = Dice(&mut rng);
        // Before all else, so that scenes of five are not fewer for being harder to draw.
        let count = OBJECTS.0 + dice.below(OBJECTS.1 - OBJECTS.0 + 1);
        for _ in 0..DRAWS {
            if let Some(scene) = Scene::draw(&mut dice, count, part == ScenePart::Unseen)
                && ScenePart::of(&scene) == part
                && self.can_be_asked(&scene)
            {
                return Ok(scene);
            }
        }
        Err(ShapesError::NoScene { part })
    }

    fn can_be_asked(&self, scene: &Scene) -> bool {
        match self.asked {
            Asked::Captions(_) | Asked::Count | Asked::CountOf(_) => true,
            Asked::LargestShape | Asked::LargestColour | Asked::Largest => scene.largest().is_some(),
        }
    }

    /// The texts of a scene: captions, or one label.
    pub fn texts(&self, scene: &Scene) -> Vec<String> {
        if let Asked::Captions(count) = self.asked {
            return scene.captions(count).iter().map(Caption::to_string).collect();
        }
        let largest = scene.largest().map(|object| scene.objects()[object]);
        let number = |count: usize| match count {
            0 => "no",
            count => caption::NUMBERS[count.min(caption::NUMBERS.len()) - 1],
        };
        let of_largest = |label: &dyn Fn(Object) -> String| largest.map(label).unwrap_or_default();
        vec![match self.asked {
            Asked::LargestShape => of_largest(&|object| object.shape.word().to_owned()),
            Asked::LargestColour => of_largest(&|object| object.colour.word().to_owned()),
            Asked::CountOf(colour) => {
                number(scene.of_kind(&Kind { colour: Some(colour), ..Kind::default() }).len()).to_owned()
            }
            Asked::Count => number(scene.objects().len()).to_owned(),
            Asked::Largest | Asked::Captions(_) => {
                of_largest(&|object| format!("{} {}", object.colour.word(), object.shape.word()))
            }
        }]
    }

    /// Draws a scene and says what is asked about it.
    pub fn told(&self, scene: &Scene, name: String) -> ImageExample {
        let Drawing { image, boxes } = scene.drawn(self.side);
        let texts = match self.asked {
            Asked::Captions(count) => {
                let captions = scene.captions(count);
                captions.iter().map(|caption| scene.with_boxes(caption, &boxes)).collect()
            }
            _ => {
                // Every word of a label stands for what it was given for.
                let named = match self.asked {
                    Asked::Count => (0..boxes.len()).collect(),
                    Asked::CountOf(colour) => {
                        scene.of_kind(&Kind { colour: Some(colour), ..Kind::default() })
                    }
                    _ => scene.largest().into_iter().collect(),
                };
                let boxes: Vec<PixelBox> = named.into_iter().map(|object| boxes[object]).collect();
                let mentions = |text: &str| {
                    let words = 0..crate::words::split(text).len();
                    words.map(|word| Mention { word, boxes: boxes.clone() }).collect()
                };
                self.texts(scene)
                    .into_iter()
                    .map(|text| ImageText { mentions: mentions(&text), text })
                    .collect()
            }
        };
        ImageExample { name, image, texts }
    }

    /// A text that someone wrote of a scene, with the boxes of what its words name: `None` unless it is true. Where
    /// labels are asked for, only the right one is.
    pub fn located(&self, scene: &Scene, text: &str) -> Option<ImageText> {
        match self.asked {
            Asked::Captions(_) => {
                let caption = Caption::parse(text)?;
                scene.meaning(&caption)?;
                Some(scene.with_boxes(&caption, &scene.drawn(self.side).boxes))
            }
            _ => self.told(scene, String::new()).texts.into_iter().find(|told| told.text == text),
        }
    }

    /// Example `index` of a part: always the same for the same `seed`.
    ///
    /// # Errors
    /// As [`Shapes::scene`].
    pub fn example(&self, seed: u64, part: ScenePart, index: u64) -> Result<ImageExample, ShapesError> {
        Ok(self.told(&self.scene(seed, part, index)?, format!("shapes/{}/{index}", part.name())))
    }
}

impl Scene {
    /// The object that is larger than all others, if there is one.
    pub fn largest(&self) -> Option<usize> {
        (0..self.objects().len()).find(|object| self.is_only(Extreme::Largest, *object, truth::Margin::True))
    }

    /// A caption as text, with the boxes of the objects that its words name: none if it is not true.
    pub fn with_boxes(&self, caption: &Caption, boxes: &[PixelBox]) -> ImageText {
        let meaning = self.meaning(caption).unwrap_or_default();
        let named = |name: usize| {
            let objects = meaning.get(name).into_iter().flatten();
            objects.filter_map(|object| boxes.get(*object)).copied().collect::<Vec<PixelBox>>()
        };
        let words = caption.words();
        let mentions = words.iter().enumerate().filter_map(|(word, said)| {
            let boxes = named(said.name?);
            (!boxes.is_empty()).then_some(Mention { word, boxes })
        });
        ImageText { text: caption.to_string(), mentions: mentions.collect() }
    }
}

/// The first `count` examples of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnShapes {
    /// The task.
    pub task: Shapes,
    /// The part.
    pub part: ScenePart,
    /// Another seed gives other scenes, but never one of another part.
    pub seed: u64,
    /// How many examples there are.
    pub count: u64,
}

impl ImageSet for DrawnShapes {
    fn len(&self) -> u64 {
        self.count
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        Ok(self.task.example(self.seed, self.part, index)?)
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        Ok(self.task.texts(&self.task.scene(self.seed, self.part, index)?))
    }

    fn verdict(&self, index: u64, text: &str) -> Result<Option<Verdict>, DataError> {
        match self.task.asked() {
            Asked::Captions(_) => Ok(Some(self.task.scene(self.seed, self.part, index)?.verdict(text))),
            _ => Ok(None),
        }
    }

    fn located(&self, index: u64, text: &str) -> Result<Option<ImageText>, DataError> {
        Ok(self.task.located(&self.task.scene(self.seed, self.part, index)?, text))
    }
}
