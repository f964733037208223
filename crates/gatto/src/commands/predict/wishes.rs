//! What is wanted of each output: the same of all, or a line of a file for each.

use crate::cli::Constrain;
use crate::lines::Lines;
use anyhow::{Context, Result, ensure};
use gatto::data::images::Pixels;
use gatto::model::{Constraints, Request, Saved};

/// Constraints on outputs, in the order of the sources.
pub(super) struct Wishes {
    of_all: Constraints,
    /// A line for each source, and its number.
    lines: Option<(Lines, usize)>,
}

impl Wishes {
    pub(super) fn new(given: &Constrain, saved: &Saved) -> Result<Self> {
        let of_all = given.of_all.constraints(saved)?;
        let lines = given.constraints.as_deref().map(|path| Lines::open(Some(path))).transpose()?;
        Ok(Self { of_all, lines: lines.map(|lines| (lines, 0)) })
    }

    /// The constraints of the next `count` sources; none if they are the same for all.
    pub(super) fn take(&mut self, count: usize) -> Result<Vec<Constraints>> {
        let Some((lines, number)) = &mut self.lines else { return Ok(Vec::new()) };
        let mut found = Vec::with_capacity(count);
        for _ in 0..count {
            *number += 1;
            let line = lines.next()?.with_context(|| {
                format!("{}: ends before line {number}; it needs one line for each source", lines.name())
            })?;
            let constraints = match line.trim() {
                "" => Constraints::default(),
                line => serde_json::from_str(line).with_context(|| {
                    let remedy = r#"write {"prefix": "…", "must": ["…"], "never": ["…"]}, or nothing"#;
                    format!("{}, line {number}: is no constraint; {remedy}", lines.name())
                })?,
            };
            found.push(constraints);
        }
        Ok(found)
    }

    /// Refuses lines that are left over.
    pub(super) fn end(&mut self) -> Result<()> {
        if let Some((lines, number)) = &mut self.lines {
            let left = lines.next()?.is_some();
            ensure!(!left, "{}: has more than {number} lines, and there are {number} sources", lines.name());
        }
        Ok(())
    }

    /// The sources, each with its constraints out of `own`, or with those of all.
    pub(super) fn requests<'a>(
        &'a self,
        sources: &'a [String],
        images: Option<&'a [Pixels]>,
        own: &'a [Constraints],
    ) -> Vec<Request<'a>> {
        let constraints = |index: usize| own.get(index).unwrap_or(&self.of_all);
        if let Some(images) = images {
            let request = |(index, image)| Request::new(image, constraints(index));
            return images.iter().enumerate().map(request).collect();
        }
        let request = |(index, source): (usize, &'a str)| Request::new(source, constraints(index));
        sources.iter().map(String::as_str).enumerate().map(request).collect()
    }
}
