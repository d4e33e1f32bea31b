//! What a section and a key of a scenario are.

use crate::values::list;

/// One key of a section. A key that means different things in different cases has several rows.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Without the path of its section.
    pub name: &'static str,
    /// A former name, accepted with a warning until 2.0; empty if there is none.
    pub(crate) was: &'static str,
    /// Former words among its choices, each with the one that replaces it.
    pub(crate) said: &'static [(&'static str, &'static str)],
    /// What may be written for it.
    pub kind: Kind,
    pub(crate) default: Default,
    /// When it applies, read on from "it applies only": `with kind = "star"`. Empty: always.
    pub applies: &'static str,
    pub(crate) meaning: &'static str,
}

impl Key {
    /// Its former name, which is accepted with a warning.
    pub fn former_name(&self) -> Option<&'static str> {
        (!self.was.is_empty()).then_some(self.was)
    }
}

/// What holds where a key is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    /// The key must be written, or its absence has a meaning of its own.
    None,
    /// A value as TOML spells it, which the readers take from here.
    Value(&'static str),
    /// Something that depends on other keys, in words; the reader computes it.
    Words(&'static str),
}

impl Default {
    /// For lists; empty if there is none.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Default::None => "",
            Default::Value(text) | Default::Words(text) => text,
        }
    }
}

/// The rows of a section, one per key:
///
/// `"name" was "former" ("old word" => "new word"): Kind = default, "meaning", only "with kind = ...";`
///
/// A default that depends on other keys is given in words (`else "twice the rate"`). `OneOf(LIST)` is a choice whose
/// words, and what each means, are in [`words`](super::words). `= LIST` takes the rows of a list.
macro_rules! keys {
    (= $rows:ident) => {
        $rows
    };
    ($(
        $name:literal $(was $was:literal)? $(($($old:literal => $new:literal),+))?:
        $kind:ident $(($($of:tt)*))? $(= $value:literal)? $(else $words:literal)?,
        $meaning:expr $(, only $applies:expr)?;
    )*) => {
        &[$($crate::dictionary::key::Key {
            name: $name,
            was: concat!($($was)?),
            said: &[$($(($old, $new)),+)?],
            kind: $crate::dictionary::key::kind!($kind $(($($of)*))?),
            default: $crate::dictionary::key::default!($($value)? $(else $words)?),
            applies: $crate::dictionary::key::or_empty!($($applies)?),
            meaning: $meaning,
        }),*]
    };
}

/// Sections under their headers as TOML has them, `["run"]` or `[["class"]]`, with their meanings and rows.
macro_rules! sections {
    ($($header:tt $meaning:literal { $($rows:tt)* })*) => {
        &[$($crate::dictionary::key::section!($header $meaning $crate::dictionary::key::keys! { $($rows)* })),*]
    };
}

macro_rules! section {
    ([[$path:literal]] $meaning:literal $keys:expr) => {
        $crate::dictionary::key::Section { path: $path, repeated: true, meaning: $meaning, keys: $keys }
    };
    ([$path:literal] $meaning:literal $keys:expr) => {
        $crate::dictionary::key::Section { path: $path, repeated: false, meaning: $meaning, keys: $keys }
    };
}

macro_rules! kind {
    (OneOf($list:ident)) => {
        $crate::dictionary::key::Kind::Choice(&const { $crate::dictionary::key::names::<_, { $list.len() }>($list) })
    };
    ($kind:ident $(($($of:tt)*))?) => {
        $kind $(($($of)*))?
    };
}

macro_rules! or_empty {
    () => {
        ""
    };
    ($text:expr) => {
        $text
    };
}

macro_rules! default {
    () => {
        $crate::dictionary::key::Default::None
    };
    ($value:literal) => {
        $crate::dictionary::key::Default::Value(stringify!($value))
    };
    (else $words:literal) => {
        $crate::dictionary::key::Default::Words($words)
    };
}

pub(crate) use {default, keys, kind, or_empty, section, sections};

/// The words of a list of choices.
pub(crate) const fn names<T, const N: usize>(of: &[(&'static str, T)]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = of[i].0;
        i += 1;
    }
    names
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
    /// Words among which a text is chosen; none if any may be written.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Choice(words) => words,
            Kind::Either(kinds) => kinds.iter().map(|kind| kind.words()).find(|words| !words.is_empty()).unwrap_or(&[]),
            _ => &[],
        }
    }

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
