//! `xoff import`: files of other simulators, as scenarios.

use super::place;
use super::{ForceArgs, Stop, show, show_page, warn};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xoff_results::files::whole;
use xoff_scenario::import::chakra::{self, Given};
use xoff_scenario::import::{Imported, cdf, conweave, hpcc, htsim, htsim_run, tcd};
use xoff_scenario::reader::read_file;
use xoff_scenario::{Diagnostic, Options, Scenario, Source, traces};

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
    /// A configuration of the TCD authors' simulator, with its topology and flow files
    ///
    /// Writes a scenario and beside it STEM.flows.csv, as `hpcc` does; docs/formats.md lists the keys.
    Tcd(HpccArgs),
    /// A configuration of ConWeave's simulator, with its topology and flow files
    ///
    /// Writes a scenario and beside it STEM.flows.csv, as `hpcc` does; docs/formats.md lists the keys. ECMP, DRILL,
    /// LetFlow, CONGA and ConWeave, lossless or with IRN.
    Conweave(HpccArgs),
    /// A connection matrix of htsim (.cm), on the network of a scenario or of its Ultra Ethernet program
    ///
    /// Writes that scenario with its traffic replaced, and beside it STEM.flows.csv. With --arguments the network,
    /// the transport and the scheme are those of a command line of the program. Node i of the
    /// matrix is the i-th host. Connections need a start time: triggers are refused, for no traffic of
    /// a scenario starts when another's flow ends.
    Htsim(HtsimArgs),
    /// Chakra execution traces of all ranks of a training job (PREFIX.0.et, PREFIX.1.et ...)
    ///
    /// Writes a scenario with one job and beside it STEM.traces.json, which holds all ranks. The network is that
    /// of --topology, whose traffic is replaced, or one switch of 400G. Says what was found, and refuses traces
    /// that would hang: sends without receives, circles, groups whose members do not meet ... with rank and node.
    Chakra(ChakraArgs),
    /// A distribution of flow sizes: lines of bytes and percent
    ///
    /// Writes a CSV like those under workloads/. Not needed to use the file: `sizes = "FILE.txt"` reads
    /// either form.
    Cdf(CdfArgs),
}

#[derive(Args)]
struct HpccArgs {
    /// The configuration: KEY value ...
    config: PathBuf,
    #[command(flatten)]
    to: ToArgs,
}

#[derive(Args)]
struct HtsimArgs {
    /// The connection matrix: Nodes N, Connections M, then lines of SRC->DST start PS size BYTES
    matrix: PathBuf,
    /// The scenario whose network, switches, hosts and scheme are used
    #[arg(long, value_name = "SCENARIO.toml", required_unless_present = "arguments")]
    topology: Option<PathBuf>,
    /// Or a file with the arguments of htsim's Ultra Ethernet program, from which all of these follow
    #[arg(long, value_name = "FILE.txt", conflicts_with = "topology")]
    arguments: Option<PathBuf>,
    #[command(flatten)]
    to: ToArgs,
}

#[derive(Args)]
struct ChakraArgs {
    /// What comes before .RANK.et (or .RANK.json; packed by gzip or not) in the names of the files
    prefix: String,
    /// A JSON file of groups, {"1": [0, 1]}, in place of what METADATA nodes tell
    #[arg(long, value_name = "FILE.json")]
    groups: Option<PathBuf>,
    /// The scenario whose network, switches, hosts and scheme are used; its first GPUs or hosts are the ranks
    #[arg(long, value_name = "SCENARIO.toml")]
    topology: Option<PathBuf>,
    /// Which dependencies hold: both kinds, or data dependencies alone
    #[arg(long, value_parser = words(traces::DEPS))]
    deps: Option<String>,
    /// What a rank does at a time: as in ASTRA-sim, or one thing in each CUDA stream
    #[arg(long, value_parser = words(traces::RESOURCES))]
    resources: Option<String>,
    /// How sends find receives: by what they say, or within groups of two by their order
    #[arg(long, value_parser = words(traces::MATCHING))]
    matching: Option<String>,
    /// What becomes of traces that look as if something were lost
    #[arg(long, value_parser = words(traces::DOUBTS))]
    doubts: Option<String>,
    #[command(flatten)]
    to: ToArgs,
}

/// The words of a key of scenarios.
fn words<T>(words: &'static [(&'static str, T)]) -> PossibleValuesParser {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word))
}

/// The value of a word.
fn meant<T: Copy>(words: &[(&str, T)], word: Option<&String>) -> Option<T> {
    word.and_then(|word| words.iter().find(|(known, _)| known == word)).map(|(_, value)| *value)
}

#[derive(Args)]
struct CdfArgs {
    /// The distribution
    file: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "NAME.csv")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Where a scenario goes.
#[derive(Args)]
struct ToArgs {
    /// The scenario to write [default: NAME.toml in the current directory]
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

pub fn import(args: &ImportArgs) -> Result<(), Stop> {
    match &args.format {
        Format::Hpcc(args) => {
            let config = Scenario::open(&args.config)?;
            let imported = hpcc::import(config.source(), config.files(), args.to.stem().as_deref())?;
            args.to.write(&imported)
        }
        Format::Tcd(args) => {
            let config = Scenario::open(&args.config)?;
            args.to.write(&tcd::import(config.source(), config.files(), args.to.stem().as_deref())?)
        }
        Format::Conweave(args) => {
            let config = Scenario::open(&args.config)?;
            args.to.write(&conweave::import(config.source(), config.files(), args.to.stem().as_deref())?)
        }
        Format::Htsim(args) => {
            let matrix = source(&args.matrix, htsim::LARGEST_FILE)?;
            let stem = args.to.stem();
            let imported = match (&args.topology, &args.arguments) {
                (Some(topology), _) => htsim::import(&matrix, &Scenario::open(topology)?, stem.as_deref())?,
                (None, Some(arguments)) => {
                    htsim_run::import(&source(arguments, htsim::LARGEST_FILE)?, &matrix, stem.as_deref())?
                }
                (None, None) => unreachable!("one of them is required"),
            };
            args.to.write(&imported)
        }
        Format::Chakra(args) => args.import(),
        Format::Cdf(args) => {
            let cdf = cdf::read(&source(&args.file, cdf::LARGEST_FILE)?)?;
            let text = cdf::csv(&cdf);
            whole::write_all(&[(args.output.clone(), text.as_str())], args.force.present())?;
            let (rows, mean, largest) = (cdf.rows(), cdf.mean_bytes(), cdf.largest_bytes());
            let file = args.output.display().to_string();
            if args.json {
                let found = json!({"files": [file], "rows": rows, "mean_bytes": mean, "largest_bytes": largest});
                return show(&found.to_string());
            }
            show_page(&format!(
                "{file} of {rows} rows: mean {mean:.0} B, largest {largest} B\nuse it with: sizes = \"{file}\""
            ))
        }
    }
}

impl ChakraArgs {
    fn import(&self) -> Result<(), Stop> {
        let given = Given {
            groups: self.groups.as_deref().map(|path| source(path, chakra::LARGEST_GROUPS)).transpose()?,
            deps: meant(traces::DEPS, self.deps.as_ref()),
            resources: meant(traces::RESOURCES, self.resources.as_ref()),
            matching: meant(traces::MATCHING, self.matching.as_ref()),
            strictness: meant(traces::DOUBTS, self.doubts.as_ref()),
        };
        let topology = self.topology.as_deref().map(Scenario::open).transpose()?;
        self.to.write(&chakra::import(&self.prefix, &given, topology.as_ref(), self.to.stem().as_deref())?)
    }
}

fn source(path: &Path, largest_bytes: u64) -> Result<Arc<Source>, Stop> {
    let text = read_file(path, largest_bytes)
        .map_err(|why| Diagnostic::new(format!("cannot read `{}`", path.display())).label(why))?;
    Ok(Source::new(path.display().to_string(), text))
}

impl ToArgs {
    fn stem(&self) -> Option<String> {
        let stem = self.output.as_ref()?.file_stem()?;
        Some(stem.to_string_lossy().into_owned())
    }

    /// Writes what can be loaded, and says what it is.
    fn write(&self, imported: &Imported) -> Result<(), Stop> {
        let loaded = imported.scenario().load(&Options::default())?;
        let path = self.output.clone().unwrap_or_else(|| Path::new(&imported.name).with_extension("toml"));
        let files = place::scenario(imported, &path, self.force.present())?;
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
        page.push_str(&collectives(imported));
        page.push_str(&format!("run it with: xoff run {}\n", files[0]));
        show_page(&page)
    }
}

/// A line for each type of collective that traces have.
fn collectives(imported: &Imported) -> String {
    let fact = imported.facts.iter().find(|fact| fact.name == "collectives").and_then(|fact| fact.value.as_object());
    let line = |(name, of): (&String, &Value)| {
        format!("{name}: {} parts, comm_size {} bytes in all\n", of["parts"], of["comm_size"])
    };
    fact.into_iter().flatten().map(line).collect()
}

fn facts(imported: &Imported) -> String {
    let counted = imported.facts.iter().filter(|fact| fact.value.is_u64() && fact.name != "mode");
    counted.map(|fact| format!("{} {}", fact.value, fact.name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}
