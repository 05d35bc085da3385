//! Reads every argument of every command from the help.

use crate::binary::{keys, succeeds};

/// An argument: its command (`jws sign`), its name (`--key`) and its value (`FILE`). The name of a positional argument is
/// its value.
#[derive(Debug)]
pub(crate) struct HelpArgument {
    pub(crate) command: String,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Reads the help of every command.
pub(crate) fn all() -> Vec<HelpArgument> {
    let mut found = Vec::new();
    walk(&mut Vec::new(), &mut found);
    found
}

fn walk(command: &mut Vec<String>, found: &mut Vec<HelpArgument>) {
    let call: Vec<&str> = command.iter().map(String::as_str).chain(["-h"]).collect();
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
                // `lab` is another program.
                if name != "help" && name != "lab" {
                    command.push(name.to_owned());
                    walk(command, found);
                    command.pop();
                }
            }
            "Commands:" | "Examples:" => {}
            _ => found.extend(argument(&command.join(" "), line)),
        }
    }
}

/// Returns the argument at the start of a help line, if it takes a value.
fn argument(command: &str, line: &str) -> Option<HelpArgument> {
    let line = line.trim_start();
    let mut words = line.split_whitespace();
    let mut first = words.next()?;
    if first.len() == 3 && first.starts_with('-') && first.ends_with(',') {
        first = words.next()?;
    }
    let is_value = |word: &str| word.starts_with(['<', '[']) && word.len() > 2;
    let value = if first.starts_with("--") {
        words.next().filter(|word| is_value(word))?
    } else {
        Some(first).filter(|word| is_value(word))?
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
        command: command.to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    })
}
