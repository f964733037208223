//! The `gatto` command. Each subcommand is a file in `commands/`; wording of flags and help is in `cli.rs`.

mod allocator;
mod cli;
mod commands;
mod lines;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::for_training();
    let arguments = cli::Arguments::parse(); // exits with 2 on bad usage
    match commands::run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(std::io::stderr(), "error: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader of our output has gone away, which is its good right.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
