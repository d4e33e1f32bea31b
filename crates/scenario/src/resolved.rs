//! The scenario with everything spelled out, in the order in which it was read.

use super::diagnostic::{Diagnostic, Source};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

/// A file the scenario names, to be kept beside the resolved scenario under `name`.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// A mere file name, without folders.
    pub name: String,
    /// What will be in the file.
    pub source: Arc<Source>,
}

/// Collects what the readers of one table decided. Clones write to the same table.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    here: Rc<RefCell<Vec<(String, Recorded)>>>,
    attachments: Rc<RefCell<Vec<Attachment>>>,
    warnings: Rc<RefCell<Vec<Diagnostic>>>,
}

#[derive(Debug)]
enum Recorded {
    Value(Value),
    Table(Recorder),
    Tables(Vec<Recorder>),
}

impl Recorder {
    fn put(&self, key: &str, recorded: Recorded) {
        let mut here = self.here.borrow_mut();
        match here.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = recorded,
            None => here.push((key.to_owned(), recorded)),
        }
    }

    pub(crate) fn value(&self, key: &str, value: Value) {
        self.put(key, Recorded::Value(value));
    }

    /// Whether something was decided under `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.here.borrow().iter().any(|(name, _)| name == key)
    }

    /// The value under `key` as TOML spells it.
    pub(crate) fn spelled(&self, key: &str) -> Option<String> {
        self.here.borrow().iter().find_map(|(name, recorded)| match recorded {
            Recorded::Value(value) if name == key => Some(value.to_string().trim().to_owned()),
            _ => None,
        })
    }

    fn child(&self) -> Recorder {
        Recorder { here: Rc::default(), attachments: self.attachments.clone(), warnings: self.warnings.clone() }
    }

    /// The table under `key`, begun if it is new.
    pub fn table(&self, key: &str) -> Recorder {
        let known = self.here.borrow().iter().find_map(|(name, recorded)| match recorded {
            Recorded::Table(known) if name == key => Some(known.clone()),
            _ => None,
        });
        if let Some(known) = known {
            return known;
        }
        let child = self.child();
        self.put(key, Recorded::Table(child.clone()));
        child
    }

    pub(crate) fn tables(&self, key: &str, count: usize) -> Vec<Recorder> {
        let children = || -> Vec<Recorder> { (0..count).map(|_| self.child()).collect() };
        let children = children();
        self.put(key, Recorded::Tables(children.clone()));
        children
    }

    /// Keeps a file and gives the name under which the resolved scenario finds it.
    pub fn attach(&self, name: &str, source: &Arc<Source>) -> String {
        let mut attachments = self.attachments.borrow_mut();
        if let Some(known) = attachments.iter().find(|known| known.source == *source) {
            return known.name.clone();
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
        let file: String = name.rsplit(['/', '\\']).next().unwrap_or("file").chars().map(plain).collect();
        let taken = |name: &str| attachments.iter().any(|known| known.name == name);
        // A resolved scenario that is resolved again keeps its names.
        let file = file.strip_prefix("input-").unwrap_or(&file);
        let mut name = format!("input-{file}");
        for number in 2.. {
            if !taken(&name) {
                break;
            }
            name = format!("input-{number}-{file}");
        }
        attachments.push(Attachment { name: name.clone(), source: source.clone() });
        name
    }

    pub(crate) fn attachments(&self) -> Vec<Attachment> {
        self.attachments.borrow().clone()
    }

    /// Something that readers found and took all the same.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().push(warning);
    }

    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }

    /// Brings the keys of this table into the order of `names`; others follow as they were read.
    pub fn order(&self, names: &[&str]) {
        let rank = |key: &str| names.iter().position(|name| *name == key).unwrap_or(names.len());
        self.here.borrow_mut().sort_by_key(|(key, _)| rank(key));
    }

    /// The text of the resolved scenario.
    pub fn render(&self) -> String {
        let mut document = DocumentMut::new();
        self.fill(document.as_table_mut());
        document.to_string()
    }

    fn fill(&self, table: &mut Table) {
        let here = self.here.borrow();
        // Values first: TOML would count one after a table's header to that table.
        for (key, recorded) in here.iter() {
            if let Recorded::Value(value) = recorded {
                table.insert(key, Item::Value(value.clone()));
            }
        }
        for (key, recorded) in here.iter() {
            match recorded {
                Recorded::Value(_) => {}
                Recorded::Table(inner) => {
                    if inner.here.borrow().is_empty() {
                        continue;
                    }
                    let mut child = Table::new();
                    inner.fill(&mut child);
                    // A table of tables needs no header of its own.
                    child.set_implicit(true);
                    table.insert(key, Item::Table(child));
                }
                Recorded::Tables(inners) => {
                    let mut children = ArrayOfTables::new();
                    for inner in inners {
                        let mut child = Table::new();
                        inner.fill(&mut child);
                        children.push(child);
                    }
                    table.insert(key, Item::ArrayOfTables(children));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_in_order_and_keeps_files() {
        let root = Recorder::default();
        let run = root.table("run");
        run.value("stop", "5ms".into());
        root.value("seed", 1.into());
        let rows = root.tables("traffic", 2);
        rows[0].value("load", 0.5.into());
        rows[1].value("load", 0.25.into());
        root.table("empty");
        assert_eq!(
            root.render(),
            "seed = 1\n\n[run]\nstop = \"5ms\"\n\n[[traffic]]\nload = 0.5\n\n[[traffic]]\nload = 0.25\n"
        );
        let (a, b) = (Source::new("x/a.csv", "1"), Source::new("y/a.csv", "2"));
        assert_eq!(rows[0].attach("x/a.csv", &a), "input-a.csv");
        assert_eq!(rows[1].attach("y/a.csv", &b), "input-2-a.csv");
        assert_eq!(root.attach("x/a.csv", &a), "input-a.csv");
        assert_eq!(root.attachments().len(), 2);
    }
}
