//! Every section and key of a scenario as data: hints, the JSON schema and the listing of
//! `describe` all come from here.

pub(crate) mod key;
pub mod schema;
mod tables;
pub(crate) mod words;

use crate::wrap;
pub(crate) use key::Default;
pub use key::{Key, Kind, Section};
use std::sync::LazyLock;

/// The sections, in the order of the documentation.
pub fn sections() -> impl Iterator<Item = &'static Section> {
    tables::SECTIONS.iter().chain(crate::traffic::keys::SECTIONS).chain(crate::measure::keys::SECTIONS)
}

/// A section by path; one that is below a profile is found below what the profile extends.
pub fn section(path: &str) -> Option<&'static Section> {
    let exact = |path: &str| sections().find(|section| section.path == path);
    exact(path).or_else(|| {
        let (head, rest) = path.split_once('.')?;
        let base = exact(head).filter(|section| !section.extends().is_empty())?;
        exact(&format!("{}.{rest}", base.extends()))
    })
}

/// The rows of a section, with those of the section it extends.
pub fn keys(path: &str) -> impl Iterator<Item = &'static Key> {
    let own = section(path);
    let inherited = own.filter(|own| !own.extends().is_empty()).and_then(|own| section(own.extends()));
    own.into_iter().chain(inherited).flat_map(|section| section.keys)
}

/// The first row for a key.
pub fn key(path: &str, name: &str) -> Option<&'static Key> {
    keys(path).find(|key| key.name == name)
}

/// The row that states the default of a key. A step of a job has the keys of collectives too.
pub(crate) fn stated(path: &str, name: &str) -> Option<&'static Key> {
    key(path, name).or_else(|| key("traffic", name).filter(|_| path == "traffic.step"))
}

/// The key of a section that once had another name, or other words among its choices.
pub(crate) fn renamed(path: &str, name: &str) -> Option<&'static Key> {
    static RENAMED: LazyLock<Vec<&Key>> = LazyLock::new(|| {
        let all = sections().flat_map(|section| section.keys);
        all.filter(|key| !key.was.is_empty() || !key.said.is_empty()).collect()
    });
    let is = |key: &Key| key.was == name || (key.name == name && !key.said.is_empty());
    // Few keys were ever renamed, and tables may be many.
    if !RENAMED.iter().any(|key| is(key)) {
        return None;
    }
    keys(path).find(|key| is(key))
}

/// Every case in which a key applies, joined for a message; empty if it always does.
pub fn applies(path: &str, name: &str) -> String {
    let rows: Vec<&str> = keys(path).filter(|key| key.name == name).map(|key| key.applies).collect();
    if rows.iter().any(|row| row.is_empty()) { String::new() } else { rows.join(", or ") }
}

/// All sections and keys as a listing for people, in so many columns.
pub fn describe(width: usize) -> String {
    sections().map(|section| describe_section(section, width)).collect()
}

/// One section with its keys.
pub fn describe_section(section: &Section, width: usize) -> String {
    let mut text = String::new();
    let header = match (section.path, section.repeated) {
        ("", _) => "(top of the file)".to_owned(),
        (path, true) => format!("[[{path}]]"),
        (path, false) => format!("[{path}]"),
    };
    wrap::paragraph(&mut text, &format!("{header} {}", section.meaning), 0, width);
    if !section.extends().is_empty() {
        let inherited = format!("(and every key of [{}], whose values are its defaults)", section.extends());
        wrap::paragraph(&mut text, &inherited, 2, width);
    }
    for key in section.keys {
        text.push_str(&describe_key(key, width));
    }
    text.push('\n');
    text
}

/// One key: its name, what it means, when it applies, what it takes.
pub fn describe_key(key: &Key, width: usize) -> String {
    let default = match key.default {
        Default::None => String::new(),
        default => format!("; default {}", default.text()),
    };
    let applies = if key.applies.is_empty() { String::new() } else { format!(" Only {}.", key.applies) };
    let explained = format!("{}.{applies} ({}{default})", key.meaning, key.kind.expects());
    let mut text = String::new();
    wrap::item(&mut text, key.name, &explained, (2, 23), width);
    text
}

/// What a table takes where one of its keys has a value such as `kind = "incast"`: the keys of that case, then those that
/// every case has.
pub fn describe_choice(section: &Section, name: &str, choice: &str, width: usize) -> String {
    let header = if section.repeated { format!("[[{}]]", section.path) } else { format!("[{}]", section.path) };
    let mut text = format!("{header} with {name} = \"{choice}\"\n");
    let rows = section.keys.iter().filter(|key| key.name != name);
    let (always, own): (Vec<&Key>, Vec<&Key>) =
        rows.filter(|key| key.fits(name, choice)).partition(|key| key.applies.is_empty());
    if !own.is_empty() {
        wrap::paragraph(&mut text, &format!("Keys of this {name}:"), 0, width);
    }
    for key in &own {
        // That it is a key of this case is said already.
        let shown = if key.only_lists(name) { Key { applies: "", ..**key } } else { **key };
        text.push_str(&describe_key(&shown, width));
    }
    if !always.is_empty() {
        wrap::paragraph(&mut text, &format!("Keys of every {name}:"), 0, width);
        always.iter().for_each(|key| text.push_str(&describe_key(key, width)));
    }
    for key in own.iter().filter(|key| matches!(key.kind, Kind::Table | Kind::Tables)) {
        if let Some(inner) = self::section(&format!("{}.{}", section.path, key.name)) {
            text.push('\n');
            text.push_str(&describe_section(inner, width));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_under_profiles() {
        assert!(key("switch.pfc", "xoff").is_some());
        assert!(key("switch_profile.pfc", "xoff").is_some());
        assert!(key("switch_profile", "buffer").is_some() && key("switch_profile", "select").is_some());
        assert!(key("nothing", "xoff").is_none() && key("a.b", "xoff").is_none());
        assert_eq!(applies("switch.pfc", "alpha"), "unless threshold = \"static\"");
    }

    #[test]
    fn a_kind_is_described_with_what_it_takes() {
        let section = section("traffic").unwrap();
        let text = describe_choice(section, "kind", "incast", 80);
        for part in ["degree", "sizes", "load", "class", "start", "Keys of every kind"] {
            assert!(text.contains(&format!("\n  {part} ")) || text.contains(part), "{part} is missing from\n{text}");
        }
        for other in ["hot_share", "micro_batches", "Only with kind = \"incast\".", "\n  burst "] {
            assert!(!text.contains(other), "{other}:\n{text}");
        }
        let text = describe_choice(section, "kind", "reduce", 80);
        assert!(text.contains("\n  bytes ") && text.contains("\n  channels ") && text.contains("\n  ranks "), "{text}");
        let probe = super::section("probe").unwrap();
        assert!(!describe_choice(probe, "what", "flows", 80).contains("\n  ports "));
        assert!(describe_choice(probe, "what", "queue", 80).contains("\n  ports "));
    }

    #[test]
    fn rows_are_complete_and_unique() {
        for section in sections() {
            assert!(!section.meaning.is_empty(), "{}", section.path);
            for (i, key) in section.keys.iter().enumerate() {
                assert!(!key.meaning.is_empty() && !key.meaning.ends_with('.'), "{}.{}", section.path, key.name);
                let twin = section.keys[..i].iter().find(|other| other.name == key.name);
                assert!(twin.is_none_or(|twin| twin.applies != key.applies), "{}.{} twice", section.path, key.name);
            }
        }
        for section in tables::SECTIONS.iter().filter(|section| !section.path.is_empty()) {
            let (parent, name) = section.path.rsplit_once('.').unwrap_or(("", section.path));
            let wanted = if section.repeated { Kind::Tables } else { Kind::Table };
            assert_eq!(key(parent, name).map(|key| key.kind), Some(wanted), "{}", section.path);
        }
        assert!(describe(80).contains("[[traffic]]"));
    }
}
