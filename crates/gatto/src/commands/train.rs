//! `gatto train`

use crate::cli::Train;
use anyhow::Result;
use gatto::train::{ConfigFile, RunOptions, run as train};
use std::path::PathBuf;

pub(crate) fn run(arguments: Train) -> Result<()> {
    let mut changes = arguments.set;
    changes.extend(arguments.seed.map(|seed| format!("seed={seed}")));
    let file = ConfigFile::read(&arguments.config, &changes)?;
    let directory = arguments.out.unwrap_or_else(|| {
        let name = arguments.config.file_stem().unwrap_or("run".as_ref());
        PathBuf::from("runs").join(name)
    });
    let stop = super::stop_on_interrupt();
    let mut recorder = if arguments.quiet { Box::new(()) } else { super::recorder() };
    super::compute(&arguments.compute, |device| -> Result<()> {
        let options = RunOptions { directory, resume: arguments.resume, device: device.clone(), stop };
        train(&file, &options, recorder.as_mut())?;
        Ok(())
    })?
}
