//! `xoff import`: files of other simulators, as scenarios.

use super::{Stop, show, warn};
use crate::import::place::{self, Present};
use crate::import::{Imported, hpcc};
use crate::scenario::{Options, Scenario};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    format: Format,
}

#[derive(Subcommand)]
enum Format {
    /// A configuration of the HPCC authors' simulator, with its topology and flow files
    ///
    /// Writes a scenario and beside it STEM.flows.csv. Every key is mapped, or refused with a reason,
    /// or named as one that concerns only that simulator's output; `xoff describe hpcc` lists them.
    /// The scenario selects the rules of that simulator (whole nanoseconds, its ECMP hash, its
    /// buffers ...) by options that any scenario may use. `xoff run`, `check` and `compare` take such
    /// a configuration directly.
    Hpcc(HpccArgs),
}

#[derive(Args)]
struct HpccArgs {
    /// The configuration: KEY value ...
    config: PathBuf,
    #[command(flatten)]
    to: ToArgs,
}

/// Where a scenario goes.
#[derive(Args)]
struct ToArgs {
    /// The scenario to write [default: NAME.toml in the current directory]
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

pub fn import(args: &ImportArgs) -> Result<(), Stop> {
    match &args.format {
        Format::Hpcc(args) => {
            let config = Scenario::open(&args.config)?;
            let imported = hpcc::import(config.source(), config.base(), args.to.stem().as_deref())?;
            args.to.write(&imported)
        }
    }
}

impl ToArgs {
    fn stem(&self) -> Option<String> {
        let stem = self.output.as_ref()?.file_stem()?;
        Some(stem.to_string_lossy().into_owned())
    }

    fn present(&self) -> Present {
        if self.force { Present::Replace } else { Present::Refuse }
    }

    /// Writes what can be loaded, and says what it is.
    fn write(&self, imported: &Imported) -> Result<(), Stop> {
        let loaded = imported.scenario().load(&Options::default())?;
        let path = self.output.clone().unwrap_or_else(|| Path::new(&imported.name).with_extension("toml"));
        let files = place::scenario(imported, &path, self.present())?;
        let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        if self.json {
            let mut object = Map::new();
            object.insert("name".to_owned(), json!(imported.name));
            object.insert("files".to_owned(), json!(files));
            for fact in &imported.facts {
                object.insert(fact.name.to_owned(), fact.value.clone());
            }
            let warnings: Vec<Value> = loaded
                .warnings
                .iter()
                .map(|warning| json!({"message": warning.message, "line": warning.line()}))
                .collect();
            object.insert("warnings".to_owned(), Value::Array(warnings));
            return show(&Value::Object(object).to_string());
        }
        warn(&loaded.warnings);
        let mut page = format!("{} of {}\n", files.join(" and "), facts(imported));
        if let Some(unused) =
            imported.facts.iter().find(|fact| fact.name == "unused_keys").and_then(|fact| fact.value.as_array())
        {
            let unused: Vec<&str> = unused.iter().filter_map(Value::as_str).collect();
            if !unused.is_empty() {
                page.push_str(&format!("without effect in this mode, there as here: {}\n", unused.join(", ")));
            }
        }
        page.push_str(&format!("run it with: xoff run {}\n", files[0]));
        show(&page)
    }
}

fn facts(imported: &Imported) -> String {
    let counted = imported.facts.iter().filter(|fact| fact.value.is_u64() && fact.name != "mode");
    counted.map(|fact| format!("{} {}", fact.value, fact.name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}
