//! The page: built ahead from `web/` by `npm --prefix web run build`, and embedded.

/// The document; it names the other two.
pub const HTML: &str = include_str!("../assets/replay.html");
/// What moves it.
pub const SCRIPT: &str = include_str!("../assets/replay.js");
/// What it looks like.
pub const STYLE: &str = include_str!("../assets/replay.css");

/// How [`HTML`] names [`STYLE`] and [`SCRIPT`].
pub const STYLE_TAG: &str = r#"<link rel="stylesheet" href="replay.css">"#;
pub const SCRIPT_TAG: &str = r#"<script src="replay.js" defer></script>"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_the_other_two_once() {
        assert_eq!(HTML.matches(STYLE_TAG).count(), 1);
        assert_eq!(HTML.matches(SCRIPT_TAG).count(), 1);
        assert_eq!(HTML.matches("<script").count(), 1, "no script may be in the document itself");
        assert!(!HTML.contains(" style=") && !HTML.contains("<style"), "the server forbids styles in the document");
        assert!(!SCRIPT.contains("</script"), "it is put into documents");
    }
}
