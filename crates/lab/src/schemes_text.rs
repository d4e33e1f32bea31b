//! The schemes as people and programs read them: parameters, units, defaults, presets, sources.

use serde_json::{Value, json};
use xoff_schemes::param::{Base, SchemeSpec};

/// All details of each; for several schemes a list at the top.
pub fn text(specs: &[&'static SchemeSpec]) -> String {
    let mut page = String::new();
    if specs.len() > 1 {
        for spec in specs {
            page.push_str(&format!("{:16} {}\n", spec.name, spec.title));
        }
        page.push('\n');
    }
    for spec in specs {
        page.push_str(&format!("{}: {}\n  {}\n", spec.name, spec.title, spec.citation));
        match spec.base {
            Base::Alone => {}
            Base::Optional => page.push_str("  may work with a base, an end-to-end scheme of your choice\n"),
            Base::Default(usual) => {
                page.push_str(&format!("  works with a base, an end-to-end scheme; usually {usual}\n"))
            }
        }
        if spec.params.is_empty() {
            page.push_str("  no parameters\n");
        }
        let presets: Vec<_> = spec.presets.iter().map(|preset| (preset, spec.values(Some(preset)))).collect();
        if !presets.is_empty() {
            page.push_str("  presets (the first is the default):\n");
            for (preset, _) in &presets {
                page.push_str(&format!("    {:14} {}\n", preset.name, preset.source));
            }
            page.push_str("  parameters:\n");
        }
        let defaults = spec.values(None);
        for param in spec.params {
            let symbol = if param.symbol.is_empty() { String::new() } else { format!(" ({})", param.symbol) };
            let default = defaults.get(param.name).to_string();
            page.push_str(&format!("    {}{symbol} = {default}\n", param.name));
            page.push_str(&format!("        {}\n        accepts {}\n", param.meaning, param.unit.expects()));
            let others: Vec<String> = presets
                .iter()
                .map(|(preset, values)| (preset.name, values.get(param.name).to_string()))
                .filter(|(_, value)| *value != default)
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            if !others.is_empty() {
                page.push_str(&format!("        presets: {}\n", others.join(", ")));
            }
            for (choice, wanted) in param.applies {
                page.push_str(&format!("        only with {choice} = \"{wanted}\"\n"));
            }
            page.push_str(&format!("        source: {}\n", param.source));
        }
        page.push('\n');
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
                    "accepts": param.unit.expects(),
                    "default": defaults.get(param.name).to_string(),
                    "only_with": param.applies.iter().map(|(choice, wanted)| json!({ *choice: wanted })).collect::<Vec<_>>(),
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
                json!({ "name": preset.name, "source": preset.source, "values": values })
            })
            .collect();
        let base = match spec.base {
            Base::Alone => Value::Null,
            Base::Optional => json!("optional"),
            Base::Default(usual) => json!(usual),
        };
        json!({ "name": spec.name, "title": spec.title, "citation": spec.citation, "base": base,
            "parameters": params, "presets": presets })
    };
    specs.iter().map(scheme).collect()
}
