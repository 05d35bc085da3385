//! What `cargo xtask package` is asked to do.

use super::target::Target;
use super::{KINDS, Kind};
use crate::command::{Error, Workspace};

/// What is done with the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// They are built.
    Build,
    /// They are built here and in a clone, and the results are compared.
    Twice,
    /// They are installed in Debians without Rust, and used.
    Check,
    /// Their sizes are written to a page.
    Sizes,
}

/// The options with a task of their own.
const TASKS: [(&str, Task); 3] = [
    ("--check", Task::Check),
    ("--sizes", Task::Sizes),
    ("--twice", Task::Twice),
];

/// The packages, the platforms and the task.
pub(super) struct Choice {
    kinds: Vec<&'static str>,
    targets: Vec<&'static Target>,
    pub(super) task: Task,
}

impl Choice {
    pub(super) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut choice = Self {
            kinds: Vec::new(),
            targets: Vec::new(),
            task: Task::Build,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if option == "--target" {
                let name = options.next();
                let name = name.ok_or_else(|| Error::Usage("--target requires a name".into()))?;
                choice.targets.extend(Target::named(name)?);
            } else if let Some((_, task)) = TASKS.iter().find(|(name, _)| name == option) {
                choice.task = *task;
            } else {
                choice.kinds.push(kind(option)?.name);
            }
        }
        Ok(choice)
    }

    /// Returns the kinds that are chosen, or all.
    pub(super) fn kinds(&self) -> Vec<&'static Kind> {
        let is_chosen = |kind: &&Kind| self.kinds.is_empty() || self.kinds.contains(&kind.name);
        KINDS.iter().filter(is_chosen).collect()
    }

    /// Returns the platforms that are chosen, or that of this machine.
    pub(super) fn targets(&self, workspace: &Workspace) -> Result<Vec<&'static Target>, Error> {
        if self.targets.is_empty() {
            Ok(vec![Target::host(workspace)?])
        } else {
            Ok(self.targets.clone())
        }
    }
}

fn kind(name: &str) -> Result<&'static Kind, Error> {
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let kinds: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        Error::Usage(format!(
            "unknown package `{name}`; expected one of: {}",
            kinds.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Choice, Error> {
        let options: Vec<_> = options.iter().map(|option| (*option).to_owned()).collect();
        Choice::parse(&options)
    }

    #[test]
    fn package_without_names_is_all_kinds() {
        let all = parse(&[]).map(|choice| (choice.kinds().len(), choice.task));
        assert_eq!(all.ok(), Some((KINDS.len(), Task::Build)));
        let one = parse(&["go", "--twice", "--target", "all"]);
        let one = one.map(|choice| (choice.kinds().len(), choice.task, choice.targets.len()));
        assert_eq!(one.ok(), Some((1, Task::Twice, 4)));
    }

    #[test]
    fn package_with_an_unknown_name_is_a_usage_error() {
        for options in [&["ruby"][..], &["--target"], &["--target", "sparc"]] {
            assert!(
                matches!(parse(options), Err(Error::Usage(_))),
                "{options:?}"
            );
        }
    }
}
