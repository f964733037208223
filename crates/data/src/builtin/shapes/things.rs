//! What objects can be: their shapes, colours and sizes, and the words for them.

/// A list of things with names: the enum, all of its variants, and the word of each.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// How it is said.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one that is said so.
            pub fn said(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|thing| thing.word() == word)
            }
        }
    };
}

pub(super) use named;

named! {
    /// The shape of an object.
    Shape {
        /// A disc.
        Circle = "circle",
        /// Four equal sides, standing nearly upright.
        Square = "square",
        /// Three equal sides, one corner up.
        Triangle = "triangle",
        /// Five points.
        Star = "star",
        /// Two bars of one length, one upright.
        Cross = "cross",
        /// A disc with a hole.
        Ring = "ring",
        /// Four equal sides on a corner, higher than wide.
        Diamond = "diamond",
        /// A crescent, open to the right.
        Moon = "moon",
    }
}

impl Shape {
    /// The word for several.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Circle => "circles",
            Self::Square => "squares",
            Self::Triangle => "triangles",
            Self::Star => "stars",
            Self::Cross => "crosses",
            Self::Ring => "rings",
            Self::Diamond => "diamonds",
            Self::Moon => "moons",
        }
    }
}

named! {
    /// The colour of an object.
    Colour {
        /// A dark red.
        Red = "red",
        /// Orange.
        Orange = "orange",
        /// A light yellow.
        Yellow = "yellow",
        /// A green that leans to blue, which is easier to tell from red.
        Green = "green",
        /// A dark blue.
        Blue = "blue",
        /// A light pink.
        Pink = "pink",
        /// White.
        White = "white",
        /// Black.
        Black = "black",
    }
}

impl Colour {
    /// Red, green and blue. Chosen so that every two can be told apart by people who see red and green, or blue
    /// and yellow, alike: a test holds them to it.
    pub fn channels(self) -> [u8; 3] {
        match self {
            Self::Red => [195, 20, 40],
            Self::Orange => [232, 120, 0],
            Self::Yellow => [250, 235, 40],
            Self::Green => [20, 165, 105],
            Self::Blue => [35, 70, 200],
            Self::Pink => [242, 130, 212],
            Self::White => [248, 248, 248],
            Self::Black => [22, 22, 25],
        }
    }
}

/// The size of an object. Between two sizes there is a gap that nobody overlooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// *small*
    Small,
    /// No word is said for it.
    Medium,
    /// *large*
    Large,
}

impl Size {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// The radii of this size, first and last, in thousandths of the side of the picture.
    pub fn radii(self) -> (u16, u16) {
        match self {
            Self::Small => (85, 100),
            Self::Medium => (128, 142),
            Self::Large => (180, 205),
        }
    }

    /// How it is said, if it is.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Small => Some("small"),
            Self::Medium => None,
            Self::Large => Some("large"),
        }
    }

    /// The size that is said so.
    pub fn said(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.word() == Some(word))
    }
}

/// Whether a shape never has this colour in the parts `train`, `valid` and `test`. Each shape lacks one colour
/// and each colour one shape, so that both are known from other company.
pub fn held_out(shape: Shape, colour: Colour) -> bool {
    (shape as usize * 3 + 1) % Colour::ALL.len() == colour as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_lacks_one_colour_and_each_colour_one_shape() {
        for &shape in Shape::ALL {
            assert_eq!(Colour::ALL.iter().filter(|colour| held_out(shape, **colour)).count(), 1);
        }
        for &colour in Colour::ALL {
            assert_eq!(Shape::ALL.iter().filter(|shape| held_out(**shape, colour)).count(), 1);
        }
        // For ever, like the hash of a scene.
        assert!(held_out(Shape::Circle, Colour::Orange) && held_out(Shape::Star, Colour::Yellow));
    }

    #[test]
    fn sizes_have_gaps_between_them() {
        for pair in Size::ALL.windows(2) {
            let (small, large) = (pair[0].radii().1, pair[1].radii().0);
            assert!(u32::from(large) * 4 >= u32::from(small) * 5);
            let (first, last) = pair[0].radii();
            assert!(u32::from(last) * 4 < u32::from(first) * 5, "one size is never larger than itself");
        }
        assert_eq!((Size::said("small"), Size::said("medium")), (Some(Size::Small), None));
    }

    /// Machado, Oliveira and Fernandes (2009), severity 1.0: what is seen of linear red, green and blue.
    const SIGHTS: [(&str, f64, [[f64; 3]; 3]); 4] = [
        ("usual", 40.0, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            25.0,
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            25.0,
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            18.0,
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    /// CIE L*a*b* of linear red, green and blue.
    fn lab(linear: [f64; 3]) -> [f64; 3] {
        let [r, g, b] = linear.map(|value| value.clamp(0.0, 1.0));
        let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505;
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089;
        let [x, y, z] =
            [x, y, z].map(|t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn colours_can_be_told_apart_by_everyone() {
        for (name, least, sight) in SIGHTS {
            let seen = |colour: Colour| {
                let linear = colour.channels().map(|byte| {
                    let value = f64::from(byte) / 255.0;
                    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
                });
                lab(sight.map(|row| row.iter().zip(linear).map(|(weight, value)| weight * value).sum()))
            };
            for (number, &a) in Colour::ALL.iter().enumerate() {
                for &b in &Colour::ALL[..number] {
                    let squares = seen(a).iter().zip(seen(b)).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
                    assert!(squares.sqrt() > least, "{name}: {a:?} and {b:?}: {}", squares.sqrt());
                }
            }
        }
    }
}
