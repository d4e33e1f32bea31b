//! The dictionary as a JSON Schema, for editors.

use super::{Key, Kind, Section, keys, section, sections};
use crate::catalogue;
use serde_json::{Map, Value, json};
use xoff_catalogue::param::ParamKind;

/// The whole schema, as it is written to `schema/scenario.schema.json`.
pub fn generate() -> Value {
    let root = section("").map_or(Value::Null, object);
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("Xoff scenario"));
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    Value::Object(schema)
}

/// As [`generate`], in the exact bytes of the file.
pub fn render() -> String {
    format!("{}\n", serde_json::to_string_pretty(&generate()).unwrap_or_default())
}

fn object(of: &Section) -> Value {
    let mut properties = Map::new();
    for key in keys(of.path) {
        let value = property(of.path, key);
        match properties.get_mut(key.name) {
            // A key with several rows takes what any of them takes.
            Some(known) => *known = json!({ "anyOf": [known.clone(), value] }),
            None => {
                properties.insert(key.name.into(), value);
            }
        }
    }
    if of.path == "scheme" {
        scheme_parameters(&mut properties);
    }
    json!({
        "type": "object",
        "description": of.meaning,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(path: &str, key: &Key) -> Value {
    let inner = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
    let mut value = match (key.kind, section(&inner)) {
        (Kind::Table, Some(of)) => match of.path {
            "output.labels" => json!({ "type": "object", "additionalProperties": kind(Kind::Text) }),
            "output.colours" => {
                json!({ "type": "object", "additionalProperties": { "type": "string", "pattern": "^#[0-9A-Fa-f]{6}$" } })
            }
            "groups" => json!({ "type": "object", "additionalProperties": kind(Kind::Texts) }),
            "schemes" => {
                json!({ "type": "object", "additionalProperties": section("scheme").map_or(Value::Null, object) })
            }
            _ => object(of),
        },
        (Kind::Tables, Some(of)) => json!({ "type": "array", "items": object(of) }),
        (Kind::Special(what), Some(of)) => {
            json!({ "$comment": what, "anyOf": [{ "type": ["string", "number"] }, object(of)] })
        }
        (other, _) => kind(other),
    };
    let mut text = key.meaning.to_owned();
    if !key.applies.is_empty() {
        text.push_str(&format!("; only {}", key.applies));
    }
    if !key.default.text().is_empty() {
        text.push_str(&format!("; default {}", key.default.text()));
    }
    value["description"] = json!(text);
    value
}

fn kind(kind: Kind) -> Value {
    let quantity = |units: &str, example: &str| json!({ "type": "string", "pattern": format!("^ *[0-9][0-9_]*(\\.[0-9]+)? *({units}) *$"), "examples": [example] });
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
        Kind::Time => quantity("ps|ns|us|µs|ms|s", "10us"),
        Kind::Rate => quantity("bps|[Kk]bps|Mbps|Gbps|Tbps|b/s|[Kk]b/s|Mb/s|Gb/s|Tb/s", "100Gbps"),
        Kind::Bytes => quantity("B|[Kk]B|MB|GB|TB|KiB|MiB|GiB", "512KB"),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(choices) => json!({ "enum": choices }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(|each| self::kind(*each)).collect::<Vec<_>>() }),
        Kind::Special(what) => json!({ "$comment": what }),
        Kind::Table => json!({ "type": "object" }),
        Kind::Tables => json!({ "type": "array", "items": { "type": "object" } }),
    }
}

/// The parameters of all schemes; which of them apply depends on the name, which the loader checks.
fn scheme_parameters(properties: &mut Map<String, Value>) {
    let schemes = catalogue::all();
    properties["name"]["enum"] = json!(schemes.iter().map(|scheme| scheme.name).collect::<Vec<_>>());
    let mut texts: Vec<(&str, String)> = Vec::new();
    for scheme in schemes {
        for param in scheme.params {
            let text = format!("{}: {} ({})", scheme.name, param.meaning, param.kind.expects());
            match texts.iter_mut().find(|(name, _)| *name == param.name) {
                Some((_, known)) => *known = format!("{known}; {text}"),
                None => texts.push((param.name, text)),
            }
            properties.entry(param.name).or_insert_with(|| of_param(param.kind));
        }
    }
    for (name, text) in texts {
        properties[name] = json!({ "description": text });
    }
}

fn of_param(param: ParamKind) -> Value {
    match param {
        ParamKind::Flag => kind(Kind::Flag),
        _ => json!({}),
    }
}

/// All sections, for a listing by program.
pub fn listing() -> Value {
    let row = |key: &Key| {
        json!({
            "name": key.name,
            "expects": key.kind.expects(),
            "default": key.default.text(),
            "applies": key.applies,
            "meaning": key.meaning,
        })
    };
    let rows = sections().map(|section| {
        json!({
            "path": section.path,
            "repeated": section.repeated,
            "extends": section.extends(),
            "meaning": section.meaning,
            "keys": section.keys.iter().map(row).collect::<Vec<_>>(),
        })
    });
    Value::Array(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_nest() {
        let schema = generate();
        let pfc = &schema["properties"]["switch_profile"]["items"]["properties"]["pfc"]["properties"];
        assert_eq!(pfc["signalling"]["enum"], json!(["on-off", "timed"]));
        assert_eq!(schema["properties"]["topology"]["properties"]["hosts"]["anyOf"].as_array().unwrap().len(), 2);
        assert_eq!(schema["properties"]["fault"]["type"], "array");
    }
}
