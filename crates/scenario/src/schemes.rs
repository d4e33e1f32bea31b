//! `[scheme]` and `[schemes.NAME]`: which congestion control, with which parameters.

use super::diagnostic::Diagnostic;
use super::names::readable_name;
use super::reader::{Result, Table, Text};
use super::tree::Value as TreeValue;
use crate::catalogue;
use crate::traffic::LARGEST_FLOW_FILE;
use xoff_catalogue::param::{Base, BytesByRate, ParamKind, ParamSpec, ParamValues, Preset, SchemeSpec, Value};
use xoff_engine::{BitRate, quantity};

/// A configured scheme and the name traffic calls it by. With a base of its own choice that is
/// `NAME+BASE`.
#[derive(Clone, Debug)]
pub struct NamedScheme {
    /// Unique within a scenario.
    pub label: String,
    /// All parameters, those left out by default or preset.
    pub values: ParamValues,
}

/// The schemes a scenario may name: the registry, or a stand-in under test.
pub type Registry = &'static [&'static SchemeSpec];

/// A run holds at most this many.
pub const SCHEMES_LARGEST: usize = 16;

/// What a scenario that names none runs.
pub const DEFAULT_SCHEME: &str = "dcqcn";

fn find(registry: Registry, name: &Text) -> Result<&'static SchemeSpec> {
    if let Some((own, base)) = name.value.split_once('+') {
        let error = name.error(format!("no scheme is called `{}`", name.value));
        return Err(
            error.help(format!("for `{own}` with the base `{base}` write name = \"{own}\" and base = \"{base}\""))
        );
    }
    registry.iter().copied().find(|spec| spec.name == name.value).ok_or_else(|| {
        name.error(format!("no scheme is called `{}`", name.value))
            .nearest(&name.value, registry.iter().map(|s| s.name))
    })
}

/// `[scheme]`, then every `[schemes.NAME]`. The first is the default of all traffic.
pub fn read(root: &mut Table, registry: Registry) -> Result<Vec<NamedScheme>> {
    let mut table = root.table("scheme")?;
    let first = read_one(&mut table, registry, DEFAULT_SCHEME)?;
    table.finish()?;
    let mut schemes = vec![NamedScheme { label: own_label(&first), values: first }];
    if let Some(mut more) = root.take_table("schemes")? {
        for label in more.keys() {
            readable_name(&label)?;
            let mut table = more.table_in(&label.value, "scheme")?;
            let values = read_one(&mut table, registry, &label.value)?;
            table.finish()?;
            if schemes.iter().any(|known| known.label == label.value) {
                let error = label.error(format!("two schemes are called `{}`", label.value));
                return Err(error.help("[scheme] goes by its name; call this one differently and give it a `name`"));
            }
            if schemes.len() == SCHEMES_LARGEST {
                return Err(label.error(format!("a run holds at most {SCHEMES_LARGEST} schemes")));
            }
            alone_in_control(&schemes, &values).map_err(|why| label.error(why))?;
            schemes.push(NamedScheme { label: label.value, values });
        }
        more.finish()?;
    }
    Ok(schemes)
}

/// Switches obey one control: why a further scheme cannot join those that are there.
fn alone_in_control(schemes: &[NamedScheme], values: &ParamValues) -> std::result::Result<(), String> {
    let other = schemes.iter().find(|known| catalogue::controls_switches(&known.values));
    match other.filter(|_| catalogue::controls_switches(values)) {
        Some(other) => {
            Err(format!("`{}` controls the switches already, and only one scheme of a run can", other.label))
        }
        None => Ok(()),
    }
}

/// What the scheme of `[scheme]` is called.
fn own_label(values: &ParamValues) -> String {
    let name = values.spec().name;
    let usual = match values.spec().base {
        Base::Default(usual) => usual.split(':').next(),
        _ => None,
    };
    match values.base().map(|base| base.spec().name) {
        Some(base) if Some(base) != usual => format!("{name}+{base}"),
        _ => name.to_owned(),
    }
}

/// A scheme that traffic names without a table of its own: its defaults.
pub fn add_named(root: &mut Table, schemes: &mut Vec<NamedScheme>, registry: Registry, name: &Text) -> Result<()> {
    if schemes.iter().any(|known| known.label == name.value) {
        return Ok(());
    }
    if !registry.iter().any(|spec| spec.name == name.value) {
        let labels = schemes.iter().map(|known| known.label.as_str());
        let names = labels.chain(registry.iter().map(|spec| spec.name));
        return Err(name.error(format!("no scheme is called `{}`", name.value)).nearest(&name.value, names));
    }
    if schemes.len() == SCHEMES_LARGEST {
        return Err(name.error(format!("a run holds at most {SCHEMES_LARGEST} schemes")));
    }
    let mut table = root.unwritten("schemes", &name.value, "scheme");
    let values = read_one(&mut table, registry, &name.value)?;
    alone_in_control(schemes, &values).map_err(|why| name.error(why))?;
    schemes.push(NamedScheme { label: name.value.clone(), values });
    Ok(())
}

/// Removes every `[schemes.NAME]` that no traffic names, with a warning each: a scheme that nothing uses must not change
/// frames, headroom or telemetry of the others. A file of flows names a scheme if one of its fields is that name.
pub fn drop_unused(root: &Table, schemes: &mut Vec<NamedScheme>, traffic: &[Table]) -> Vec<Diagnostic> {
    let named: Vec<Text> = traffic.iter().flat_map(|row| row.peek_texts("scheme")).collect();
    let files: Vec<_> = traffic.iter().flat_map(|row| row.peek_texts("file")).collect();
    let listed = |label: &str| {
        files.iter().any(|name| match root.files().read(&name.value, LARGEST_FLOW_FILE) {
            Ok(source) => source.text.split([',', '\n', '\r']).any(|field| field.trim() == label),
            // Whoever reads it says why that cannot be.
            Err(_) => true,
        })
    };
    let mut warnings = Vec::new();
    let first = schemes.first().map(|scheme| scheme.label.clone());
    schemes.retain(|scheme| {
        let label = &scheme.label;
        let used = Some(label) == first.as_ref() || named.iter().any(|name| name.value == *label) || listed(label);
        if !used {
            let place = root.place_within("schemes", label);
            warnings.push(place.error(format!("no traffic uses the scheme `{label}`")).label("without effect"));
        }
        used
    });
    warnings
}

/// A scheme with its base, if it has one.
fn read_one(table: &mut Table, registry: Registry, default_name: &str) -> Result<ParamValues> {
    let mut values = read_params(table, registry, default_name, None)?;
    let spec = values.spec();
    let usual = match spec.base {
        Base::Alone if table.has("base") => {
            let others: Vec<&str> = registry.iter().filter(|s| s.base != Base::Alone).map(|s| s.name).collect();
            let error = table.key_error("base", format!("`{}` works alone, without a base", spec.name));
            return Err(error.help(format!("schemes that work with a base: {}", others.join(", "))));
        }
        Base::Alone => return finished(table, values),
        Base::Optional if !table.has("base") => return finished(table, values),
        Base::Optional => None,
        Base::Default(usual) => Some(usual),
    };
    let mut inner = table.named_table_in("base", "scheme")?;
    // With nothing written, all of the usual base is read: its preset too.
    let (usual_name, usual_preset) = match usual.map(|usual| usual.split_once(':').unwrap_or((usual, ""))) {
        Some((name, preset)) => (name, (!preset.is_empty() && !inner.has("name")).then_some(preset)),
        None => ("", None),
    };
    if usual_name.is_empty() && !inner.has("name") {
        return Err(inner.place().error("`base` lacks `name`").label("the scheme to work with"));
    }
    let base = read_params(&mut inner, registry, usual_name, usual_preset)?;
    if base.spec().base != Base::Alone {
        let error =
            inner.error("name", format!("`{}` works with a base itself, so it cannot be one", base.spec().name));
        return Err(error);
    }
    if inner.has("base") {
        return Err(inner.key_error("base", "a base has no base of its own"));
    }
    inner.finish()?;
    values.set_base(Some(base));
    finished(table, values)
}

/// Values that make sense together, and with the base.
fn finished(table: &Table, values: ParamValues) -> Result<ParamValues> {
    match catalogue::validation_error(&values) {
        Some(why) => {
            // The parameter that the reason speaks of first and that is written; else whoever chose it all.
            let named = why.split('`').skip(1).step_by(2).find(|key| table.has(key)).map(str::to_owned);
            let chosen = if table.has("base") { "base" } else { "name" };
            Err(table.error(named.as_deref().unwrap_or(chosen), why))
        }
        None => Ok(values),
    }
}

fn read_params(table: &mut Table, registry: Registry, default_name: &str, usual: Option<&str>) -> Result<ParamValues> {
    let name = table.text_or("name", default_name)?;
    let spec = find(registry, &name)?;
    let preset = read_preset(table, spec, usual)?;
    let mut values = spec.values(preset);
    let mut given: Vec<(&str, toml_edit::Value)> = Vec::new();
    for param in spec.params {
        if let Some((value, spelled)) = read_param(table, param)? {
            values.set(param.name, value);
            given.push((param.name, spelled));
        }
    }
    for param in spec.params {
        let own = given.iter().find(|(name, _)| *name == param.name);
        match (values.no_effect(param.name), own) {
            (Some(why), Some(_)) => {
                return Err(table.key_error(param.name, format!("`{}` has no effect here", param.name)).label(why));
            }
            // Recorded, it would be refused when read again.
            (Some(_), None) => {}
            (None, Some((_, spelled))) => table.record(param.name, spelled.clone()),
            // As its source spells it, so that it reads back exactly.
            (None, None) => {
                let preset = preset.and_then(|preset| preset.values.iter().find(|(name, _)| *name == param.name));
                table.record(param.name, spelling(param.kind, preset.map_or(param.default, |(_, text)| text)));
            }
        }
    }
    Ok(values)
}

fn read_preset(table: &mut Table, spec: &'static SchemeSpec, usual: Option<&str>) -> Result<Option<&'static Preset>> {
    let Some(first) = spec.presets.first() else {
        return match table.take_text("preset")? {
            Some(text) => Err(text.error(format!("the scheme `{}` has no presets", spec.name))),
            None => Ok(None),
        };
    };
    let name = table.text_or("preset", usual.unwrap_or(first.name))?;
    spec.preset(&name.value).map(Some).ok_or_else(|| {
        name.error(format!("the scheme `{}` has no preset `{}`", spec.name, name.value))
            .nearest(&name.value, spec.presets.iter().map(|preset| preset.name))
    })
}

/// A parameter's value and how the resolved scenario spells it.
fn read_param(table: &mut Table, param: &'static ParamSpec) -> Result<Option<(Value, toml_edit::Value)>> {
    if param.kind == ParamKind::BytesByRate && table.is_table(param.name) {
        return read_by_rate(table, param.name).map(Some);
    }
    let Some(text) = table.take_spelling(param.name)? else { return Ok(None) };
    let value = param.kind.parse(&text.value).map_err(|why| -> Diagnostic {
        text.error(format!("`{}` {}", param.name, why.0)).label(param.kind.expects()).help(param.meaning)
    })?;
    Ok(Some((value, spelling(param.kind, &text.value))))
}

/// A text as the TOML value a scenario would hold.
fn spelling(kind: ParamKind, text: &str) -> toml_edit::Value {
    let plain = match kind {
        ParamKind::Flag => text.parse::<bool>().ok().map(toml_edit::Value::from),
        ParamKind::Count { .. } => text.replace('_', "").parse::<i64>().ok().map(toml_edit::Value::from),
        ParamKind::Number { .. } | ParamKind::NumberByRate { .. } => {
            text.parse::<f64>().ok().map(toml_edit::Value::from)
        }
        _ => None,
    };
    plain.unwrap_or_else(|| text.into())
}

/// `{ "40Gbps" = "160KB", "100Gbps" = "400KB" }`.
fn read_by_rate(table: &mut Table, key: &str) -> Result<(Value, toml_edit::Value)> {
    let Some(inner) = table.take_table(key)? else { return Err(table.error(key, "not a table")) };
    let mut rows: Vec<(BitRate, u64)> = Vec::new();
    let mut recorded = toml_edit::InlineTable::new();
    for (name, item) in inner.into_items() {
        let rate = quantity::parse_rate(&name.value)
            .map_err(|why| name.error(format!("`{}` {why}", name.value)).label("a port's rate such as \"40Gbps\""))?;
        let TreeValue::Text(text) = &item.value else {
            return Err(item.place.error("this is not a size").label("such as \"160KB\""));
        };
        let bytes = quantity::parse_bytes(text)
            .map_err(|why| item.place.error(format!("the size {why}")).label("such as \"160KB\""))?;
        if rate.bps() == 0 || rows.iter().any(|(known, _)| *known == rate) {
            return Err(name.error("this rate is zero or given twice"));
        }
        recorded.insert(&name.value, text.as_str().into());
        rows.push((rate, bytes));
    }
    if rows.is_empty() {
        return Err(table.error(key, format!("`{key}` is empty")).label("at least one rate is needed"));
    }
    rows.sort_unstable();
    Ok((Value::BytesByRate(BytesByRate::Table(rows)), recorded.into()))
}
