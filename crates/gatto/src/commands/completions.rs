//! `gatto completions`

use crate::cli::{Arguments, Completions};
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(arguments: Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "gatto", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}
