//! `[output.labels]` and `[output.colours]`: how figures call and draw schemes. Neither changes what a run does.

use crate::reader::Result;
use crate::{Table, catalogue};
use std::collections::BTreeMap;

/// What the user wants schemes to be called and drawn in, by scheme.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Looks {
    /// Names for figures.
    pub labels: BTreeMap<String, String>,
    /// Red, green, blue.
    pub colours: BTreeMap<String, [u8; 3]>,
}

impl Looks {
    /// Reads both tables of `[output]`.
    pub(crate) fn read(output: &mut Table) -> Result<Looks> {
        let mut looks = Looks::default();
        if let Some(mut table) = output.take_table("labels")? {
            for scheme in table.keys() {
                known(&scheme)?;
                let label = table.text(&scheme.value)?;
                if label.value.trim().is_empty() {
                    return Err(label.error("the label is empty").label("a name such as \"DCQCN\""));
                }
                looks.labels.insert(scheme.value, label.value);
            }
            table.finish()?;
        }
        if let Some(mut table) = output.take_table("colours")? {
            for scheme in table.keys() {
                known(&scheme)?;
                let text = table.text(&scheme.value)?;
                let Some(colour) = colour(&text.value) else {
                    return Err(text
                        .error(format!("`{}` is not a colour", text.value))
                        .label("red, green and blue in hexadecimal, such as \"#0072B2\""));
                };
                looks.colours.insert(scheme.value, colour);
            }
            table.finish()?;
        }
        Ok(looks)
    }

    /// Those of a resolved scenario, which was read before.
    pub fn of_resolved(text: &str) -> Looks {
        let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return Looks::default() };
        let table = |name: &str| {
            let found = document.get("output").and_then(|output| output.get(name)).and_then(|of| of.as_table_like());
            let entry = |(key, item): (&str, &toml_edit::Item)| Some((key.to_owned(), item.as_str()?.to_owned()));
            found.into_iter().flat_map(|table| table.iter()).filter_map(entry).collect::<BTreeMap<String, String>>()
        };
        let colours = table("colours").into_iter().filter_map(|(scheme, text)| Some((scheme, colour(&text)?)));
        Looks { labels: table("labels"), colours: colours.collect() }
    }

    /// What figures call a scheme: its label; that of its mere name with the rest behind it, `DCQCN:paper`; nothing if
    /// it has none.
    pub fn label(&self, scheme: &str) -> Option<String> {
        if let Some(label) = self.labels.get(scheme) {
            return Some(label.clone());
        }
        let (name, rest) = scheme.split_at(plain(scheme).len());
        self.labels.get(name).map(|label| format!("{label}{rest}"))
    }

    /// The colour that was set for a scheme as it is named.
    pub fn colour(&self, scheme: &str) -> Option<[u8; 3]> {
        self.colours.get(scheme).copied()
    }
}

/// Without preset, base and parameters.
fn plain(scheme: &str) -> &str {
    scheme.split([':', '+', '{']).next().unwrap_or(scheme)
}

/// A label of a scheme that does not exist would be ignored in silence.
fn known(scheme: &crate::Text) -> Result<()> {
    let name = plain(&scheme.value);
    if catalogue::find(name).is_some() {
        return Ok(());
    }
    let error = scheme.error(format!("no scheme is called `{name}`"));
    Err(error.nearest(name, catalogue::all().iter().map(|spec| spec.name)))
}

/// `#0072B2`.
fn colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok().filter(|_| !digits.contains('+'));
    Some([part(0)?, part(2)?, part(4)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_digits() {
        assert_eq!(colour("#0072B2"), Some([0, 0x72, 0xb2]));
        for wrong in ["0072B2", "#072", "#00+1+2", "#0072BG", "blue", "#äöü"] {
            assert_eq!(colour(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn presets_have_the_label_of_their_scheme() {
        let looks = Looks { labels: [("dcqcn".to_owned(), "DCQCN".to_owned())].into(), ..Looks::default() };
        assert_eq!(looks.label("dcqcn:paper").as_deref(), Some("DCQCN:paper"));
        assert_eq!((looks.label("dcqcn").as_deref(), looks.label("hpcc")), (Some("DCQCN"), None));
    }
}
