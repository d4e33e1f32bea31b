//! `xoff new`: something to begin with.

mod scenario;
mod scheme;

use super::Stop;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct NewArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write a commented scenario to change
    ///
    /// NAME.toml in this folder, or another place: `xoff new scenario work/rack --kind incast`.
    Scenario(scenario::ScenarioArgs),
    /// Write a scheme of your own, as a small Cargo project
    ///
    /// One file with a scheme that works, to be changed. The project's program is xoff with one scheme more: every
    /// command knows it. `xoff new scheme my-idea`, then `cd my-idea && cargo run --release -- compare incast.toml`.
    /// It is compiled with the sources that this program was built from, or with the checkout that --path names, and
    /// shares what is compiled there; with --in-tree it is a crate of the checkout, where the first build is shortest.
    Scheme(scheme::SchemeArgs),
}

pub fn new(args: &NewArgs) -> Result<(), Stop> {
    match &args.what {
        What::Scenario(args) => scenario::write(args),
        What::Scheme(args) => scheme::write(args),
    }
}
