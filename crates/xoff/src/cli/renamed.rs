//! Options and words that once had other names. Each is declared beside the new one, as a hidden alias; here the user is
//! warned.

use std::ffi::OsString;

/// What to say of former names among the arguments: one line for each, which names the new one.
pub fn notes(command: &clap::Command, arguments: &[OsString]) -> Vec<String> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let named = words.iter().find_map(|word| command.find_subcommand(word));
    let options = named.into_iter().flat_map(clap::Command::get_arguments).chain(command.get_arguments());
    let mut notes = Vec::new();
    for option in options {
        let Some(now) = option.get_long() else { continue };
        for old in option.get_aliases().unwrap_or_default() {
            if values_of(&words, old).next().is_some() {
                notes.push(format!("`--{old}` is now `--{now}`; the old name is accepted until Xoff 2.0"));
            }
        }
        let spellings = option.get_aliases().unwrap_or_default().into_iter().chain([now]);
        let given: Vec<&str> = spellings.flat_map(|name| values_of(&words, name).collect::<Vec<_>>()).collect();
        for value in option.get_possible_values() {
            let former = value.get_name_and_aliases().skip(1).filter(|old| given.contains(old));
            let now = value.get_name();
            notes.extend(former.map(|old| format!("`{old}` is now `{now}`; the old word is accepted until Xoff 2.0")));
        }
    }
    notes
}

/// The values of an option, empty where the next word is none of its own.
fn values_of<'a>(words: &'a [&'a str], name: &'a str) -> impl Iterator<Item = &'a str> {
    let until = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    words[..until].iter().enumerate().filter_map(move |(at, word)| {
        let rest = word.strip_prefix("--")?.strip_prefix(name)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None if rest.is_empty() => Some(words.get(at + 1).copied().unwrap_or_default()),
            None => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::builder::PossibleValue;
    use clap::{Arg, Command};

    #[test]
    fn a_former_name_is_told_once_and_names_the_new_one() {
        let clock = ["freeze", "realtime"].map(PossibleValue::new);
        let [freeze, realtime] = clock;
        let values = [freeze.alias("elastic"), realtime.alias("wall")];
        let live = Command::new("live")
            .arg(Arg::new("k").long("dilation").alias("k"))
            .arg(Arg::new("clock").long("clock").value_parser(values));
        let command = Command::new("xoff").subcommand(live);
        let told = |line: &str| notes(&command, &line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(told("xoff live a.toml --dilation 5 --clock freeze").is_empty());
        assert!(told("xoff live a.toml --kind 5").is_empty());
        assert_eq!(told("xoff live --k=5"), ["`--k` is now `--dilation`; the old name is accepted until Xoff 2.0"]);
        let both = told("xoff live --clock wall --k 5");
        assert!(both.len() == 2 && both[1].starts_with("`wall` is now `realtime`"), "{both:?}");
    }
}
