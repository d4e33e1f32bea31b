//! Markdown that forges show alike: tables, links, folds, and text in which nothing is markup by accident.

pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        out.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    out.push('\n');
    out
}

pub fn link(text: &str, to: &str) -> String {
    format!("[{}]({to})", cell(text))
}

/// What a link can lead to. Headings have names of their own, but each forge makes others of them.
pub fn anchor(name: &str) -> String {
    format!("<a id=\"{name}\"></a>")
}

/// Shown when it is asked for.
pub fn folded(title: &str, inside: &str) -> String {
    format!("<details><summary>{}</summary>\n\n{}\n\n</details>\n\n", cell(title), inside.trim_end())
}

/// Text within a paragraph: nothing in it is markup, but for what is in backquotes.
pub fn inline(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    // A backquote alone would open a quotation that never ends.
    let paired = text.matches('`').count() % 2 == 0;
    for c in text.chars() {
        match c {
            '`' if paired => {
                code = !code;
                out.push('`');
            }
            '`' => out.push('\''),
            '<' if !code => out.push_str("&lt;"),
            '*' | '[' | ']' if !code => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text within a table, where a bar would start the next cell.
pub fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}
