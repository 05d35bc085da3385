//! Checks the layout of the help of every command at two widths.

use std::process::Command;

use crate::binary::keys;

/// Returns every command, for example `jwt verify`. `lab` is another program.
fn commands() -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut at = 0;
    while let Some(command) = found.get(at).cloned() {
        at += 1;
        let help = help(&command, 100);
        let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let names = list
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| !["help", "lab"].contains(name));
        for name in names {
            found.push([&command[..], &[name.to_owned()]].concat());
        }
    }
    found
}

fn help(command: &[String], columns: usize) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(command)
        .arg("--help")
        .current_dir(keys())
        .env("COLUMNS", columns.to_string())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[test]
fn help_is_wrapped_at_80_and_100_columns() {
    let commands = commands();
    assert!(commands.len() > 50, "{commands:?}");
    for (command, columns) in commands.iter().flat_map(|c| [(c, 80), (c, 100)]) {
        let help = help(command, columns);
        let context = format!("{command:?} at {columns}:\n{help}");
        let lines = help.lines().filter(|line| !line.starts_with("Usage: "));
        for line in lines {
            assert!(width(line) <= columns, "{line:?} is too long\n{context}");
        }
        let examples = help.lines().skip_while(|line| *line != "Examples:");
        for example in examples.skip(1).take_while(|line| !line.is_empty()) {
            assert!(
                example.contains("jeton "),
                "{example:?}: an example is wrapped\n{context}"
            );
        }
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2) {
            let [line, next] = [pair[0], pair[1]];
            if line.is_empty() || next.is_empty() || next.starts_with(' ') {
                continue;
            }
            // An example or a row of a table that was too long.
            assert!(
                !line.starts_with(' '),
                "{next:?} is not indented\n{context}"
            );
            // A line break that is not due to the width.
            let word = next.split(' ').next().unwrap();
            assert!(
                width(line) + 1 + width(word) > columns,
                "{line:?} is broken too early\n{context}"
            );
        }
    }
}
