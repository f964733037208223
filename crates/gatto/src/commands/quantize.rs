//! `gatto quantize`

use crate::cli::Quantize;
use anyhow::Result;
use gatto::model::{CONFIG, quantise};
use gatto::train::{ConfigFile, Origin};
use std::io::Write;

pub(crate) fn run(arguments: Quantize) -> Result<()> {
    let Quantize { model, output } = arguments;
    let made = quantise(&model, &output, |folder| {
        // The paths of its data go on to mean the same.
        let origin = Origin::load(&model)
            .or_else(|| ConfigFile::read(&model.join(CONFIG), &[]).ok().map(|file| Origin::of(&file)));
        origin.map_or(Ok(()), |origin| origin.save(folder))
    })?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    writeln!(
        std::io::stdout(),
        "{}: {} matrices in eight bits, {} other parameters as they were; {:.1} MB in place of {:.1}",
        output.display(),
        made.matrices,
        made.others,
        megabytes(made.after),
        megabytes(made.before)
    )?;
    Ok(())
}
