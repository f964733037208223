//! The `gatto` command. Each subcommand is a file in `commands/`; wording of flags and help is in `cli.rs`.

mod cli;
mod commands;
mod lines;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lets the allocator keep freed pages for good: training asks for them again at every step, and to get
/// them back from the system, zeroed, costs a twentieth of its time.
fn keep_freed_pages() {
    /// `mi_option_purge_delay` of mimalloc's C interface; the crate has no name for it.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    const NEVER: std::ffi::c_long = -1;
    // SAFETY: sets a number in a table of the allocator; a number that it does not know it ignores.
    #[allow(unsafe_code, reason = "the allocator's options have no other interface")]
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, NEVER);
    }
}

fn main() -> ExitCode {
    keep_freed_pages();
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
