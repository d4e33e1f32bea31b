//! The schemes as people and programs read them: parameters, units, defaults, presets, sources.

use serde_json::{Value, json};
use xoff_fabric::record::Variable;
use xoff_scenario::wrap;
use xoff_schemes::param::{Base, ParamSpec, Preset, SchemeSpec};

/// All details of each, in so many columns; for several schemes a list at the top.
pub fn text(specs: &[&'static SchemeSpec], width: usize) -> String {
    let mut page = String::new();
    if specs.len() > 1 {
        for spec in specs {
            wrap::item(&mut page, spec.name, spec.title, (0, 17), width);
        }
        page.push('\n');
    }
    for spec in specs {
        page.push_str(&of_scheme(spec, width));
        page.push('\n');
    }
    page
}

fn of_scheme(spec: &'static SchemeSpec, width: usize) -> String {
    let mut page = String::new();
    let line = |page: &mut String, text: &str, indent: usize| wrap::paragraph(page, text, indent, width);
    line(&mut page, &format!("{}: {}", spec.name, spec.title), 0);
    line(&mut page, spec.citation, 2);
    match spec.base {
        Base::Alone => {}
        Base::Optional => line(&mut page, "may work with a base, an end-to-end scheme of your choice", 2),
        Base::Default(usual) => {
            line(&mut page, &format!("works with a base, an end-to-end scheme; usually {usual}"), 2)
        }
    }
    if spec.params.is_empty() {
        line(&mut page, "no parameters", 2);
    }
    if !spec.presets.is_empty() {
        line(&mut page, "presets (the first is the default):", 2);
        for preset in spec.presets {
            wrap::item(&mut page, preset.name, &preset_source(spec, preset), (4, 19), width);
        }
        line(&mut page, "parameters:", 2);
    }
    for param in spec.params {
        page.push_str(&of_param(spec, param, width));
    }
    if !spec.variables.is_empty() {
        line(&mut page, "variables (sampled by [[probe]] what = \"scheme\", of traffic with probe = true):", 2);
        for of in spec.variables {
            let unit = if of.unit == "1" { String::new() } else { format!(" In {}.", of.unit) };
            wrap::item(&mut page, of.name, &format!("{}{unit}", of.meaning), (4, 19), width);
        }
    }
    page
}

/// Where its values come from, and the ports they were found for.
fn preset_source(spec: &SchemeSpec, preset: &Preset) -> String {
    match spec.tuned.iter().find(|tuned| tuned.preset == preset.name) {
        Some(tuned) => format!("{} (for ports of {} Gb/s: {})", preset.source, tuned.gbps, tuned.params.join(", ")),
        None => preset.source.to_owned(),
    }
}

/// One parameter.
pub fn of_param(spec: &'static SchemeSpec, param: &ParamSpec, width: usize) -> String {
    let mut page = String::new();
    let symbol = if param.symbol.is_empty() { String::new() } else { format!(" ({})", param.symbol) };
    let default = spec.values(None).get(param.name).to_string();
    let mut lines = vec![param.meaning.to_owned(), format!("accepts {}", param.kind.expects())];
    let others: Vec<String> = spec
        .presets
        .iter()
        .map(|preset| (preset.name, spec.values(Some(preset)).get(param.name).to_string()))
        .filter(|(_, value)| *value != default)
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    if !others.is_empty() {
        lines.push(format!("presets: {}", others.join(", ")));
    }
    lines.extend(param.conditions().map(|(choice, wanted)| format!("only with {choice} = \"{wanted}\"")));
    lines.push(format!("source: {}", param.source));
    wrap::paragraph(&mut page, &format!("{}{symbol} = {default}", param.name), 4, width);
    for line in lines {
        wrap::paragraph(&mut page, &line, 8, width);
    }
    page
}

pub fn json(specs: &[&'static SchemeSpec]) -> Value {
    let scheme = |spec: &&'static SchemeSpec| {
        let defaults = spec.values(None);
        let params: Vec<Value> = spec
            .params
            .iter()
            .map(|param| {
                json!({
                    "name": param.name,
                    "symbol": param.symbol,
                    "accepts": param.kind.expects(),
                    "default": defaults.get(param.name).to_string(),
                    "only_with": param.conditions().map(|(choice, wanted)| json!({ *choice: wanted })).collect::<Vec<_>>(),
                    "meaning": param.meaning,
                    "source": param.source,
                })
            })
            .collect();
        let presets: Vec<Value> = spec
            .presets
            .iter()
            .map(|preset| {
                let values: serde_json::Map<String, Value> = spec
                    .values(Some(preset))
                    .iter()
                    .map(|(param, value)| (param.name.to_owned(), json!(value.to_string())))
                    .collect();
                let tuned = spec.tuned.iter().find(|tuned| tuned.preset == preset.name);
                json!({ "name": preset.name, "source": preset.source, "values": values,
                    "for_ports_of_gbps": tuned.map(|tuned| tuned.gbps) })
            })
            .collect();
        let variable = |of: &Variable| json!({ "name": of.name, "unit": of.unit, "meaning": of.meaning });
        let variables: Vec<Value> = spec.variables.iter().map(variable).collect();
        let base = match spec.base {
            Base::Alone => Value::Null,
            Base::Optional => json!("optional"),
            Base::Default(usual) => json!(usual),
        };
        json!({ "name": spec.name, "title": spec.title, "citation": spec.citation, "base": base,
            "parameters": params, "presets": presets, "variables": variables })
    };
    specs.iter().map(scheme).collect()
}
