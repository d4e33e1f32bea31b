//! The models in words: for the terminal, for programs and for `docs/models.md`.

use serde_json::{Value, json};
use std::fmt::Write;
use xoff_models::{ModelSpec, all};
use xoff_results::grid::Grid;
use xoff_scenario::wrap;

/// `xoff describe models`.
pub fn text(width: usize) -> String {
    all().iter().map(|model| text_of(model, width)).collect()
}

/// One model.
pub fn text_of(model: &ModelSpec, width: usize) -> String {
    let ModelSpec { name, title, what, source, .. } = model;
    let mut text = String::new();
    wrap::item(&mut text, &format!("{name}:"), title, (0, 2), width);
    wrap::paragraph(&mut text, what, 2, width);
    wrap::paragraph(&mut text, &format!("Source: {source}"), 2, width);
    text.push('\n');
    let mut grid = Grid::new(["parameter", "default", "meaning"]).left(&[1, 2]);
    for parameter in model.parameters {
        let default = if parameter.default.is_empty() { "-" } else { parameter.default };
        let (meaning, allowed, source) = (parameter.meaning, parameter.kind.expects(), parameter.source);
        grid.row([parameter.name.to_owned(), default.to_owned(), format!("{meaning} ({allowed}; {source})")]);
    }
    text.push_str(&grid.text_in(width));
    for (heading, curves) in [("number", false), ("curve", true)] {
        let mut grid = Grid::new([heading, "unit", "meaning"]).left(&[1, 2]);
        for output in model.outputs.iter().filter(|output| output.curve == curves) {
            grid.row([output.name, output.unit, output.meaning]);
        }
        if !grid.rows.is_empty() {
            text.push('\n');
            text.push_str(&grid.text_in(width));
        }
    }
    text.push('\n');
    text
}

/// All models as JSON.
pub fn json() -> Value {
    let model = |model: &ModelSpec| {
        let parameters: Vec<Value> = model
            .parameters
            .iter()
            .map(|parameter| {
                json!({
                    "name": parameter.name,
                    "default": parameter.default,
                    "allowed": parameter.kind.expects(),
                    "meaning": parameter.meaning,
                    "source": parameter.source,
                })
            })
            .collect();
        let outputs = |curves: bool| -> Vec<Value> {
            let of_kind = model.outputs.iter().filter(|output| output.curve == curves);
            of_kind
                .map(|output| json!({ "name": output.name, "unit": output.unit, "meaning": output.meaning }))
                .collect()
        };
        json!({
            "name": model.name,
            "title": model.title,
            "what": model.what,
            "source": model.source,
            "parameters": parameters,
            "numbers": outputs(false),
            "curves": outputs(true),
        })
    };
    Value::Array(all().iter().map(model).collect())
}

/// `docs/models.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Models\n\n\
         Recurrences, fluid models and differential equations of the papers, and the flow-size distributions. An \
         experiment runs one with `model = \"NAME\"` in place of a scenario; `set` and axes give its parameters, and \
         claims and figures use its numbers and curves by name.\n\n\
         This page is made from the program (`xoff describe models` prints the same): \
         `XOFF_UPDATE=1 cargo test -p xoff --test house pages` writes it anew.\n",
    );
    for model in all() {
        let _ = write!(
            page,
            "\n## {}\n\n{}.\n\n{}\n\nSource: {}.\n\n",
            model.name,
            sentence(model.title),
            model.what,
            model.source
        );
        page.push_str("| parameter | default | allowed | meaning | source |\n|---|---|---|---|---|\n");
        for parameter in model.parameters {
            let default = if parameter.default.is_empty() { "none".into() } else { format!("`{}`", parameter.default) };
            let row = [&format!("`{}`", parameter.name), &default, &parameter.kind.expects()];
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {} |",
                row[0], row[1], row[2], parameter.meaning, parameter.source
            );
        }
        page.push_str("\n| yields | | unit | meaning |\n|---|---|---|---|\n");
        for output in model.outputs {
            let kind = if output.curve { "curve" } else { "number" };
            let meaning = output.meaning.replace('|', "\\|");
            let _ = writeln!(page, "| `{}` | {kind} | {} | {meaning} |", output.name, output.unit);
        }
    }
    page
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_shown() {
        for model in all() {
            assert!(text(80).contains(&format!("{}:", model.name)));
        }
        assert_eq!(json().as_array().unwrap().len(), all().len());
    }
}
