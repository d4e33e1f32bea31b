//! What all pages for browsers share: how they look, what moves in them, and the promise that they ask nobody for
//! anything.

use super::figures::chart::Chart;
use super::figures::{json_text, pdf, svg};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

/// Built ahead from `web/src/report`, with their hashes.
const SCRIPT: &str = include_str!("../assets/report.js");
const SCRIPT_HASH: &str = include_str!("../assets/report.js.sha256");
const STYLE: &str = include_str!("../assets/report.css");
const STYLE_HASH: &str = include_str!("../assets/report.css.sha256");

/// A figure in a page: as it is printed, as data for the script, and as a file for a paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// Name of its files, without ending.
    pub file: String,
    pub title: String,
    pub svg: String,
    /// JSON that can stand in a script.
    pub data: String,
    /// The file in base 64.
    pub pdf: String,
}

impl Figure {
    pub fn of(chart: &Chart) -> Result<Figure, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Figure {
            file: chart.file.clone(),
            title: chart.title.clone(),
            svg: svg(chart)?,
            data: json_text(chart)?,
            pdf: BASE64_STANDARD.encode(pdf(chart)?),
        })
    }
}

/// Renders templates, in which all that is not marked as safe is escaped. `parts` has the macros for what pages share.
pub fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("parts", include_str!("../assets/parts.html"))?;
    environment.add_global("script", SCRIPT);
    environment.add_global("style", STYLE);
    environment.add_global("policy", policy(SCRIPT_HASH, STYLE_HASH));
    Ok(environment)
}

/// Under which nothing is loaded, and no script or style works but those of these hashes.
pub fn policy(script_hash: &str, style_hash: &str) -> String {
    let (script, style) = (script_hash.trim(), style_hash.trim());
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data: blob:; base-uri \
         'none'; form-action 'none'"
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a page says, without what every page is made of.
    pub(crate) fn own_text(page: &str) -> String {
        page.replace(SCRIPT, "").replace(STYLE, "")
    }

    #[test]
    fn scripts_and_styles_cannot_end_early() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</style"));
        assert!(SCRIPT.len() > 1000 && STYLE.len() > 1000, "npm --prefix web run build");
        assert_eq!(BASE64_STANDARD.decode(SCRIPT_HASH.trim()).unwrap().len(), 32);
        assert_eq!(BASE64_STANDARD.decode(STYLE_HASH.trim()).unwrap().len(), 32);
    }
}
