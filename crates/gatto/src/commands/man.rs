//! `gatto man`

use crate::cli::{Arguments, Man};
use anyhow::{Context, Result};
use clap::CommandFactory;

pub(crate) fn run(arguments: Man) -> Result<()> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("{}: cannot be created", directory.display()))?;
    clap_mangen::generate_to(Arguments::command(), directory)
        .with_context(|| format!("{}: cannot be written", directory.display()))
}
