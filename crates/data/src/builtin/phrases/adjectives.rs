//! The adjectives, in the place that they take beside an Italian noun.

use super::nouns::*;

/// What nearly everything can be.
const ANYTHING: Kinds = (CONCRETE & !FOOD) | TALE;

/// These usually stand before their noun.
pub(super) const BEFORE: &[(Kinds, &str)] = &[
    (ANYTHING, "beautiful bello, ugly brutto"),
    (CONCRETE, "big grande, small piccolo"),
    (PERSON | ANIMAL | OBJECTS | PLACE | NATURE | TALE, "old vecchio"),
    (OBJECTS | PLACE | TALE | TOPIC, "new nuovo"),
    (PERSON, "young giovane, poor povero"),
    (PEOPLE | FOOD | DRINK | TEXT | TOPIC | TALE, "good buono"),
];

/// These stand before their noun too, and single it out: only after *the*.
pub(super) const LIMITING: &str = "other altro, same stesso, first primo, last ultimo";

/// These have no degrees: nobody is *very italian*.
pub(super) const ABSOLUTE: &[&str] = &[
    "italian", "french", "german", "american", "broken", "empty", "red", "blue", "green", "yellow", "pink",
    "gray",
];

/// These stand after their noun.
pub(super) const AFTER: &[(Kinds, &str)] = &[
    (
        OBJECTS | NATURE,
        "red rosso, white bianco, black nero, green verde, blue blu, yellow giallo, gray grigio, pink rosa",
    ),
    (ANIMAL, "white bianco, black nero, gray grigio"),
    (ANIMATE, "tired stanco, happy felice, sad triste, strong forte, lazy pigro, curious curioso"),
    (
        PEOPLE,
        "angry arrabbiato, sick malato, nice simpatico, kind gentile, intelligent intelligente, rich ricco, \
         tall alto, elegant elegante, shy timido, brave coraggioso, generous generoso",
    ),
    (PERSON, "italian italiano, french francese, german tedesco, american americano"),
    (PERSON | PLACE | TEXT, "famous famoso"),
    (OBJECTS | PLACE, "clean pulito, dirty sporco, expensive costoso, modern moderno"),
    (THING | FURNITURE | CONTAINER | INSTRUMENT, "heavy pesante, broken rotto"),
    (CONTAINER | PLACE, "empty vuoto"),
    (FOOD | DRINK, "delicious delizioso, cold freddo, hot caldo, fresh fresco, sweet dolce"),
    (TEXT | TALE | TOPIC, "interesting interessante, boring noioso, difficult difficile, easy facile"),
    (TEXT | TOPIC | TALE, "important importante, strange strano, long lungo, short breve"),
    (PLACE, "quiet tranquillo, dangerous pericoloso"),
];
