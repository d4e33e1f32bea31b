//! Every section and key of a scenario as data: hints, the JSON schema and the listing of
//! `describe` all come from here.

/// One key of a section. A key that means different things in different cases has several rows.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// As spelled in a scenario; empty if there is none: then it must be given, or may be absent.
    pub default: &'static str,
    /// When it applies, read on from "it applies only": `with kind = "star"`. Empty: always.
    pub applies: &'static str,
    pub meaning: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    /// A text or a list of texts.
    Texts,
    Time,
    /// A time or "off".
    TimeOrOff,
    Rate,
    Bytes,
    Count,
    Number,
    Flag,
    Choice(&'static [&'static str]),
    /// Something its meaning explains, such as a size or "auto".
    Special(&'static str),
    /// A table, or tables, with a section of their own.
    Table,
    Tables,
}

impl Kind {
    /// For messages and lists.
    pub fn expects(self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Texts => "a text or a list of texts".into(),
            Kind::Time => "a time such as \"10us\"".into(),
            Kind::TimeOrOff => "a time such as \"10us\", or \"off\"".into(),
            Kind::Rate => "a rate such as \"100Gbps\"".into(),
            Kind::Bytes => "a size such as \"512KB\"".into(),
            Kind::Count => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(choices) => format!("one of {}", super::reader::list(choices.iter().copied())),
            Kind::Special(what) => what.into(),
            Kind::Table => "a table".into(),
            Kind::Tables => "a list of tables".into(),
        }
    }
}

/// A table of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Dotted, as in a header: `switch.pfc`. The empty path is the document itself.
    pub path: &'static str,
    /// Written `[[path]]`.
    pub repeated: bool,
    pub meaning: &'static str,
    pub keys: &'static [Key],
}

/// The sections, in the order of the documentation.
pub fn sections() -> &'static [Section] {
    SECTIONS
}

const SECTIONS: &[Section] = &[];

/// The rows of a section.
pub fn keys(path: &str) -> impl Iterator<Item = &'static Key> {
    let path = path.to_owned();
    sections().iter().filter(move |section| section.path == path).flat_map(|section| section.keys)
}

/// The first row for a key.
pub fn key(path: &str, name: &str) -> Option<&'static Key> {
    keys(path).find(|key| key.name == name)
}
