//! Dates as people write them, to ISO 8601: `the third of May, 2021` → `2021-05-03`.
//!
//! The same text always means the same day. Where only numbers are given, the day comes before the
//! month (`03/05/2021` is the third of May) unless the year comes first. A year of two digits lies
//! between 1930 and 2029.

use super::Task;
use super::dice::Dice;
use crate::Example;
use crate::random::ChaCha8Rng;

/// The ways to write a date. `{d}` day, `{dd}` in two digits, `{nth}` 3rd, `{word}` third; `{m}`,
/// `{mm}`, `{month}` May, `{mon}` abbreviated; `{y}` year, `{yy}` its last two digits; `{day}`
/// Monday, `{dy}` Mon.
const FORMATS: &[&str] = &[
    "{d} {month} {y}",
    "{dd} {month} {y}",
    "{d} {mon} {y}",
    "{d} {mon}. {y}",
    "{month} {d}, {y}",
    "{month} {d} {y}",
    "{mon} {d}, {y}",
    "{mon}. {d}, {y}",
    "{month} {nth}, {y}",
    "{mon} {nth} {y}",
    "{nth} {month} {y}",
    "{nth} of {month} {y}",
    "the {nth} of {month}, {y}",
    "the {word} of {month}, {y}",
    "the {word} of {month} {y}",
    "{month} the {word}, {y}",
    "{month} {word}, {y}",
    "{day}, {d} {month} {y}",
    "{day} {d} {month} {y}",
    "{day}, {month} {d}, {y}",
    "{day} the {nth} of {month} {y}",
    "{day}, {month} {nth}, {y}",
    "{dy} {d} {mon} {y}",
    "{dy}, {d} {mon} {y}",
    "{dy}, {mon} {d}, {y}",
    "{dy}. {dd} {mon}. {y}",
    "{d}-{mon}-{y}",
    "{dd}-{mon}-{yy}",
    "{d} {month} '{yy}",
    "{mon} {d} '{yy}",
    "{d}/{m}/{y}",
    "{dd}/{mm}/{y}",
    "{dd}/{mm}/{yy}",
    "{d}.{m}.{y}",
    "{dd}.{mm}.{yy}",
    "{dd}-{mm}-{y}",
    "{y}.{mm}.{dd}",
    "{y}/{mm}/{dd}",
    "{y} {month} {d}",
    "{y}, {month} {nth}",
    "{y}-{mon}-{dd}",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const ORDINALS: [&str; 31] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
    "thirtieth",
    "thirty-first",
];

/// Years that two digits can mean.
const SHORT_YEARS: std::ops::Range<usize> = 1930..2030;

/// Dates between 1900 and 2099. A task for characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dates;

impl Task for Dates {
    fn name(&self) -> &'static str {
        "dates"
    }

    fn pair(&self, rng: &mut ChaCha8Rng) -> Example {
        let mut dice = Dice(rng);
        let format = dice.pick(FORMATS);
        let years = if format.contains("{yy}") { SHORT_YEARS } else { 1900..2100 };
        let (year, month) = (years.start + dice.below(years.len()), 1 + dice.below(12));
        let date = Date { year, month, day: 1 + dice.below(days_in(year, month)) };
        let source = match dice.below(10) {
            0..2 => date.written(format).to_lowercase(),
            2 => date.written(format).to_uppercase(),
            _ => date.written(format),
        };
        Example::new(source, date.written("{y}-{mm}-{dd}"))
    }
}

/// A day; months and days count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Date {
    year: usize,
    month: usize,
    day: usize,
}

fn days_in(year: usize, month: usize) -> usize {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// Days since Monday, modulo 7 (Sakamoto's method).
    fn weekday(self) -> usize {
        const SHIFT: [usize; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
        let year = if self.month < 3 { self.year - 1 } else { self.year };
        (year + year / 4 - year / 100 + year / 400 + SHIFT[self.month - 1] + self.day + 6) % 7
    }

    /// The date in one of the [`FORMATS`].
    fn written(self, format: &str) -> String {
        let mut text = String::new();
        let mut rest = format;
        while let Some((before, field)) = rest.split_once('{') {
            let (field, after) = field.split_once('}').unwrap_or((field, ""));
            text += before;
            text += &self.field(field);
            rest = after;
        }
        text + rest
    }

    fn field(self, name: &str) -> String {
        let Self { year, month, day } = self;
        match name {
            "d" => day.to_string(),
            "dd" => format!("{day:02}"),
            "nth" => format!("{day}{}", suffix(day)),
            "word" => ORDINALS[day - 1].into(),
            "m" => month.to_string(),
            "mm" => format!("{month:02}"),
            "month" => MONTHS[month - 1].into(),
            "mon" => MONTHS[month - 1][..3].into(),
            "y" => year.to_string(),
            "yy" => format!("{:02}", year % 100),
            "day" => DAYS[self.weekday()].into(),
            _ => DAYS[self.weekday()][..3].into(),
        }
    }
}

/// *st, nd, rd, th*
fn suffix(day: usize) -> &'static str {
    match (day % 10, day / 10) {
        (1, 0 | 2 | 3) => "st",
        (2, 0 | 2) => "nd",
        (3, 0 | 2) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::generator;

    const FLOOD: Date = Date { year: 1966, month: 11, day: 4 };

    #[test]
    fn weekdays_are_those_of_the_calendar() {
        for (year, month, day, weekday) in [
            (1900, 1, 1, "Monday"),
            (1969, 7, 20, "Sunday"),
            (2000, 2, 29, "Tuesday"),
            (2021, 5, 3, "Monday"),
            (2024, 2, 29, "Thursday"),
            (2099, 12, 31, "Thursday"),
        ] {
            assert_eq!(Date { year, month, day }.field("day"), weekday);
        }
        assert_eq!(FLOOD.field("dy"), "Fri");
    }

    #[test]
    fn dates_are_written_as_people_do() {
        let day = Date { year: 2021, month: 5, day: 3 };
        assert_eq!(day.written("the {word} of {month}, {y}"), "the third of May, 2021");
        assert_eq!(day.written("{month} {nth}, {y}"), "May 3rd, 2021");
        assert_eq!(day.written("{d} {month} '{yy}"), "3 May '21");
        assert_eq!(FLOOD.written("{dy}. {dd} {mon}. {y}"), "Fri. 04 Nov. 1966");
        assert_eq!((1..=31).filter(|&day| suffix(day) != "th").count(), 7);
        assert_eq!(
            [days_in(1900, 2), days_in(2000, 2), days_in(2023, 2), days_in(2024, 2)],
            [28, 29, 28, 29]
        );
    }

    #[test]
    fn a_text_means_one_day_and_that_day_exists() {
        let mut rng = generator(3, 0);
        let mut known: HashMap<String, String> = HashMap::new();
        for _ in 0..200_000 {
            let Example { source, target, .. } = Dates.pair(&mut rng);
            let fields: Vec<usize> = target.split('-').map(|field| field.parse().unwrap()).collect();
            assert_eq!(target.len(), 10);
            assert!((1900..2100).contains(&fields[0]) && (1..=12).contains(&fields[1]), "{target}");
            assert!((1..=days_in(fields[0], fields[1])).contains(&fields[2]), "{target}");
            let before = known.entry(source.clone()).or_insert_with(|| target.clone());
            assert_eq!(*before, target, "{source}");
        }
        assert!(known.len() > 150_000);
    }
}
