//! Completions for shells and man pages, from the same source as `--help`.

use super::{Cli, Stop, show, show_page};
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use std::io;
use std::path::PathBuf;
use xoff_results::files::whole::{self, Present};

#[derive(Args)]
pub struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs) -> Result<(), Stop> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "xoff", &mut script);
    show(String::from_utf8_lossy(&script).trim_end())
}

#[derive(Args)]
pub struct ManArgs {
    /// Folder to write the pages to: xoff.1, xoff-run.1 and so on
    #[arg(default_value = "man")]
    folder: PathBuf,
}

pub fn man(args: &ManArgs) -> Result<(), Stop> {
    let mut pages = Vec::new();
    page(Cli::command(), "xoff".to_owned(), &mut pages).map_err(Stop::System)?;
    let files: Vec<(PathBuf, &str)> =
        pages.iter().map(|(name, text)| (args.folder.join(format!("{name}.1")), text.as_str())).collect();
    whole::write_all(&files, Present::Replace)?;
    show_page(&format!(
        "{} pages are in {}; `man {}/xoff.1` shows the first",
        files.len(),
        args.folder.display(),
        args.folder.display()
    ))
}

/// The page of a command, and those of what is below it.
fn page(command: clap::Command, name: String, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let name = format!("{name}-{}", below.get_name());
        page(below.clone(), name, pages)?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command.name(name.clone())).render(&mut text)?;
    pages.push((name, String::from_utf8_lossy(&text).into_owned()));
    Ok(())
}
