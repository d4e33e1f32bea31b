//! Random choices, and how they are written down.

use toml::{Table, Value};
use xoff_engine::rng::{Rng, stream};

/// A stream of choices.
pub struct Draw(Rng);

impl Draw {
    /// The choices of one section of one scenario: another section's do not shift them.
    pub fn new(seed: u64, section: &str) -> Draw {
        Draw(stream(seed, section, 0))
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.0.below(n) == 0
    }

    /// From `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.below(items.len() as u64) as usize]
    }

    /// `count` different ones, in the order in which they are listed.
    pub fn some(&mut self, items: &[String], count: usize) -> Vec<String> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        self.0.shuffle(&mut order);
        order.truncate(count.min(items.len()));
        order.sort_unstable();
        order.into_iter().map(|index| items[index].clone()).collect()
    }

    /// A number of few digits from `least` to `most`.
    pub fn part(&mut self, least: f64, most: f64) -> f64 {
        let drawn = least + self.0.unit() * (most - least);
        (drawn * 1e4).round() / 1e4
    }
}

/// A time in picoseconds, as a scenario writes it.
pub fn time(ps: u64) -> String {
    format!("{ps}ps")
}

pub fn bytes(bytes: u64) -> String {
    format!("{bytes}B")
}

pub fn gbps(gbps: u64) -> String {
    format!("{gbps}Gbps")
}

pub const US: u64 = 1_000_000;

/// Sets one key of a table.
pub fn set(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

/// Adds a table to a list of tables such as `[[traffic]]`.
pub fn push(root: &mut Table, key: &str, row: Table) {
    let list = root.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(rows) = list {
        rows.push(Value::Table(row));
    }
}

/// A table written in place: `table! { kind = "star", hosts = 3 }`.
#[macro_export]
macro_rules! table {
    ($($key:ident = $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut table = toml::Table::new();
        $(table.insert(stringify!($key).to_owned(), toml::Value::from($value));)*
        table
    }};
}
