//! `[scheme]` and `[schemes.NAME]`: any of the registry, with any preset and base, sometimes with
//! a parameter of its own.

use crate::draw::{Draw, set};
use toml::{Table, Value};
use xoff_schemes::param::{Base, ParamKind, ParamSpec, SchemeSpec};

/// `[scheme]`, and perhaps others; the names of those that traffic may choose.
pub fn schemes(draw: &mut Draw, root: &mut Table) -> Vec<String> {
    set(root, "scheme", scheme(draw));
    let mut names = Vec::new();
    let mut others = Table::new();
    for number in 0..draw.between(0, 7).saturating_sub(5) {
        let name = format!("other{number}");
        set(&mut others, &name, scheme(draw));
        names.push(name);
    }
    if !others.is_empty() {
        set(root, "schemes", others);
    }
    names
}

fn scheme(draw: &mut Draw) -> Table {
    let spec = *draw.pick(xoff_schemes::all());
    let mut table = named(draw, spec);
    let takes_base = match spec.base {
        Base::Alone => false,
        Base::Optional | Base::Default(_) => draw.one_in(2),
    };
    if takes_base {
        let base = *draw.pick(xoff_schemes::bases());
        set(&mut table, "base", named(draw, base));
    }
    table
}

fn named(draw: &mut Draw, spec: &'static SchemeSpec) -> Table {
    let mut table = Table::new();
    set(&mut table, "name", spec.name);
    let preset = if spec.presets.is_empty() { None } else { Some(draw.pick(spec.presets)) };
    if let Some(preset) = preset {
        set(&mut table, "preset", preset.name);
    }
    if !spec.params.is_empty() && draw.one_in(4) {
        let values = spec.values(preset);
        let param = draw.pick(spec.params);
        let has_effect = values.no_effect(param.name).is_none();
        if let Some(value) = other_value(draw, param).filter(|_| has_effect) {
            set(&mut table, param.name, value);
        }
    }
    table
}

/// A value near the default, or the other end of what is allowed.
fn other_value(draw: &mut Draw, param: &ParamSpec) -> Option<Value> {
    let factor = *draw.pick(&[0.25, 0.5, 2.0, 4.0]);
    let number = |text: &str| text.parse::<f64>().ok();
    match param.kind {
        ParamKind::Flag => Some((param.default != "true").into()),
        ParamKind::Choice(choices) => Some((*draw.pick(choices)).into()),
        ParamKind::Count { min, max } => {
            let scaled = (number(param.default)? * factor) as u64;
            Some((scaled.clamp(min, max.min(1 << 40)) as i64).into())
        }
        ParamKind::Number { min, max } => Some((number(param.default)? * factor).clamp(min, max).into()),
        ParamKind::Time | ParamKind::Rate | ParamKind::Bytes => {
            // "55us" and "5KB": the number, then the unit as it is.
            let digits = param.default.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (amount, unit) = param.default.split_at(digits);
            Some(format!("{}{unit}", number(amount)? * factor).into())
        }
        ParamKind::BytesByRate | ParamKind::TimeByRate | ParamKind::NumberByRate { .. } => None,
    }
}

/// Handles simultaneous events in the order that a scheme of one random sequence needs.
pub(crate) fn keep_order(root: &mut Table) {
    let draws = |table: &Table| {
        let name = table.get("name").and_then(Value::as_str)?;
        let spec = xoff_schemes::find(name)?;
        let (param, value) = spec.one_sequence?;
        let preset = table.get("preset").and_then(Value::as_str).and_then(|preset| spec.preset(preset));
        let given = table.get(param).and_then(Value::as_str).map(str::to_owned);
        Some(given.unwrap_or_else(|| spec.values(preset).get(param).to_string()) == value)
    };
    if tables(root).into_iter().any(|table| draws(table) == Some(true)) {
        let model = root.entry("model").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(model) = model {
            set(model, "event_order", "insertion");
        }
    }
}

/// Names of the schemes of a scenario, those beneath others as well.
pub(crate) fn names(root: &Table) -> Vec<&str> {
    tables(root).into_iter().filter_map(|table| table.get("name")?.as_str()).collect()
}

/// Tables of the schemes of a scenario, those beneath others as well.
fn tables(root: &Table) -> Vec<&Table> {
    let mut tables: Vec<&Table> = root.get("scheme").and_then(Value::as_table).into_iter().collect();
    let others = root.get("schemes").and_then(Value::as_table);
    tables.extend(others.into_iter().flat_map(|others| others.values().filter_map(Value::as_table)));
    let bases: Vec<&Table> = tables.iter().filter_map(|table| table.get("base")?.as_table()).collect();
    tables.into_iter().chain(bases).collect()
}
