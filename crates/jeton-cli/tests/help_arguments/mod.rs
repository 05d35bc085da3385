//! Every argument of every command, as the help lists them.

use crate::binary::{keys, succeeds};

/// An argument: of a verb as in `jws sign`, with an option's name as in `--key`, and what it takes as in
/// `FILE`. A positional argument has what it takes as its name.
#[derive(Debug)]
pub(crate) struct HelpArgument {
    pub(crate) verb: String,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Reads the help of every command.
pub(crate) fn all() -> Vec<HelpArgument> {
    let mut found = Vec::new();
    walk(&mut Vec::new(), &mut found);
    found
}

fn walk(verb: &mut Vec<String>, found: &mut Vec<HelpArgument>) {
    let call: Vec<&str> = verb.iter().map(String::as_str).chain(["-h"]).collect();
    let help = String::from_utf8(succeeds(&keys(), &call, b"")).unwrap();
    let mut part = "";
    for line in help.lines() {
        if !line.starts_with(' ') {
            part = line;
            continue;
        }
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        match part {
            "Commands:" if is_name => {
                let name = line.split_whitespace().next().unwrap();
                if name != "help" {
                    verb.push(name.to_owned());
                    walk(verb, found);
                    verb.pop();
                }
            }
            "Commands:" | "Examples:" => {}
            _ => found.extend(argument(&verb.join(" "), line)),
        }
    }
}

/// The argument that a line of the help begins with, if it takes something.
fn argument(verb: &str, line: &str) -> Option<HelpArgument> {
    let line = line.trim_start();
    let mut words = line.split_whitespace();
    let mut first = words.next()?;
    if first.len() == 3 && first.starts_with('-') && first.ends_with(',') {
        first = words.next()?;
    }
    let is_value = |word: &str| word.starts_with(['<', '[']) && word.len() > 2;
    let value = match first.starts_with("--") {
        true => words.next().filter(|word| is_value(word))?,
        false => Some(first).filter(|word| is_value(word))?,
    };
    let value = value
        .trim_end_matches("...")
        .trim_matches(['<', '>', '[', ']']);
    let name = if first.starts_with("--") {
        first
    } else {
        value
    };
    Some(HelpArgument {
        verb: verb.to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    })
}
