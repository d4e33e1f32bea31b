//! What a section and a key of a scenario are.

use crate::values::list;

/// One key of a section. A key that means different things in different cases has several rows.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Without the path of its section.
    pub name: &'static str,
    /// What may be written for it.
    pub kind: Kind,
    /// As spelled in a scenario; empty if there is none.
    pub(crate) default: &'static str,
    /// When it applies, read on from "it applies only": `with kind = "star"`. Empty: always.
    pub applies: &'static str,
    pub(crate) meaning: &'static str,
}

impl Key {
    /// A key that always applies.
    pub(crate) const fn new(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
        Key { name, kind, default, applies: "", meaning }
    }

    /// The same, but only in some case: `with kind = "star"`.
    pub(crate) const fn only(self, applies: &'static str) -> Key {
        Key { applies, ..self }
    }
}

impl Key {
    /// Whether it may be written where `name` has the value `choice`.
    pub(crate) fn fits(&self, name: &str, choice: &str) -> bool {
        let spoken = self.applies.contains(&format!("{name} = "));
        let listed = self.applies.contains(&format!("\"{choice}\""));
        !spoken || listed != self.applies.starts_with("unless")
    }

    /// Whether all that is said of when it applies are values of `name`.
    pub(crate) fn only_lists(&self, name: &str) -> bool {
        let list = self.applies.strip_prefix(&format!("with {name} = ")).unwrap_or_default();
        let quoted = |word: &str| word.len() > 2 && word.starts_with('"') && word.ends_with('"');
        list.split(", ").flat_map(|part| part.split(" or ")).all(quoted)
    }
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any words.
    Text,
    /// A text or a list of texts.
    Texts,
    /// A time with its unit.
    Time,
    /// A rate with its unit.
    Rate,
    /// A size with its unit.
    Bytes,
    /// A whole number, not negative.
    Count,
    /// Any number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any of several kinds, such as a size or "auto".
    Either(&'static [Kind]),
    /// Something the text explains, such as a size or the name of a workload.
    Special(&'static str),
    /// A table with a section of its own, or with keys of the user's choice.
    Table,
    /// A list of tables with a section of their own.
    Tables,
}

impl Kind {
    /// For messages and lists.
    pub(crate) fn expects(self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Texts => "a text or a list of texts".into(),
            Kind::Time => "a time such as \"10us\"".into(),
            Kind::Rate => "a rate such as \"100Gbps\"".into(),
            Kind::Bytes => "a size such as \"512KB\"".into(),
            Kind::Count => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice([one]) => format!("\"{one}\""),
            Kind::Choice(choices) => format!("one of {}", list(choices.iter().copied())),
            Kind::Either(kinds) => kinds.iter().map(|kind| kind.expects()).collect::<Vec<_>>().join(", or "),
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
    pub(crate) meaning: &'static str,
    /// In the order in which they are described.
    pub keys: &'static [Key],
}

impl Section {
    /// The section whose keys and sections it has too; empty if there is none.
    pub fn extends(&self) -> &'static str {
        match self.path {
            "switch_profile" => "switch",
            "host_profile" => "host",
            _ => "",
        }
    }
}
