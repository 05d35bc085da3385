//! The options of `cargo xtask test`.

use super::areas::Area;
use super::step::{Part, Step};
use super::steps::STEPS;
use crate::command::Error;
use crate::setup::Extent;

/// Which steps to run, and how.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    rest: bool,
    pub(super) areas: Vec<Area>,
    only: Vec<String>,
    skip: Vec<String>,
    /// Whether steps start after one has failed.
    pub(super) keep_going: bool,
    /// Whether a step that cannot run fails.
    pub(super) no_skips: bool,
    /// The step that this process is. The one that runs the test gives it.
    pub(super) step: Option<String>,
}

impl Choice {
    pub(crate) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut choice = Self::default();
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut value = || {
                let missing = || Error::Usage(format!("{option} needs a value"));
                options.next().cloned().ok_or_else(missing)
            };
            match option.as_str() {
                "--rest" => choice.rest = true,
                "--keep-going" => choice.keep_going = true,
                "--no-skips" => choice.no_skips = true,
                "--for" => choice.areas.push(Area::parse(&value()?)?),
                "--only" => choice.only.push(step(value()?)?),
                "--skip" => choice.skip.push(step(value()?)?),
                "--step" => choice.step = Some(step(value()?)?),
                other => {
                    return Err(Error::Usage(format!(
                        "unknown option `{other}`; `test` has --rest, --for PART, --only STEP, --skip STEP, \
                         --keep-going and --no-skips"
                    )));
                }
            }
        }
        Ok(choice)
    }

    /// The chosen steps. One that is named runs, whatever else is chosen.
    pub(super) fn steps(&self) -> Vec<&'static Step> {
        STEPS.iter().filter(|step| self.has(step)).collect()
    }

    fn has(&self, step: &Step) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == step.name);
        if named(&self.skip) || !self.only.is_empty() {
            return named(&self.only) && !named(&self.skip);
        }
        let is_needed = |area: &Area| step.areas.is_empty() || step.areas.contains(area);
        step.part == self.part() && (self.areas.is_empty() || self.areas.iter().any(is_needed))
    }

    /// Whether only named steps run: what they need is there, or their message says what is missing.
    pub(super) fn needs_setup(&self) -> bool {
        self.only.is_empty()
    }

    /// Which of the two commands this is.
    pub(super) fn part(&self) -> Part {
        if self.rest { Part::Rest } else { Part::First }
    }

    /// What the steps need to be installed.
    pub(super) fn extent(&self) -> Extent {
        match self.part() {
            Part::First => Extent::FirstTests,
            Part::Rest => Extent::Everything,
        }
    }

    /// The packages of the chosen areas; empty for all.
    pub(super) fn packages(&self) -> Vec<&'static str> {
        let packages = self.areas.iter().flat_map(|area| area.packages());
        let mut packages: Vec<_> = packages.copied().collect();
        packages.sort_unstable();
        packages.dedup();
        packages
    }

    /// What the process of a step is told.
    pub(super) fn for_steps(&self) -> Vec<String> {
        let areas = self.areas.iter().map(|area| area.name().to_owned());
        areas.flat_map(|area| ["--for".to_owned(), area]).collect()
    }
}

fn step(name: String) -> Result<String, Error> {
    if STEPS.iter().any(|step| step.name == name) {
        return Ok(name);
    }
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    Err(Error::Usage(format!(
        "unknown step `{name}`; expected one of: {}",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Choice, String> {
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        Choice::parse(&options).map_err(|stop| stop.to_string())
    }

    fn chosen(options: &[&str]) -> Vec<&'static str> {
        let steps = parse(options).map(|choice| choice.steps());
        steps.into_iter().flatten().map(|step| step.name).collect()
    }

    #[test]
    fn every_step_is_in_one_of_the_two_parts() {
        let (first, rest) = (chosen(&[]), chosen(&["--rest"]));
        assert_eq!(first.len() + rest.len(), STEPS.len());
        assert!(first.iter().all(|step| !rest.contains(step)));
        assert_eq!(first[0], "test");
    }

    #[test]
    fn parts_of_the_project_choose_their_steps() {
        let library = chosen(&["--for", "library"]);
        assert!(
            library.contains(&"test") && library.contains(&"words"),
            "{library:?}"
        );
        assert!(
            !library.contains(&"lab") && !library.contains(&"sdk-go"),
            "{library:?}"
        );
        assert!(chosen(&["--rest", "--for", "service"]).contains(&"etcd"));
        let both = parse(&["--for", "cli", "--for", "service"]).map(|choice| choice.packages());
        assert!(both.is_ok_and(|packages| {
            packages.iter().filter(|name| **name == "jeton-cli").count() == 1
        }));
        assert!(
            parse(&["--for", "libary"])
                .is_err_and(|why| why.contains("library, cli, service, sdk, lab"))
        );
    }

    #[test]
    fn only_and_skip_choose_steps() {
        assert_eq!(chosen(&["--only", "fmt"]), ["fmt"]);
        assert_eq!(chosen(&["--only", "etcd"]), ["etcd"]);
        let skipped = chosen(&["--skip", "fmt"]);
        assert!(!skipped.contains(&"fmt") && skipped.contains(&"words"));
    }

    #[test]
    fn every_step_waits_for_steps_that_are_there_before_it() {
        for (index, step) in STEPS.iter().enumerate() {
            for name in step.after {
                assert!(
                    STEPS[..index].iter().any(|before| before.name == *name),
                    "{}: {name}",
                    step.name
                );
            }
        }
    }

    #[test]
    fn unknown_step_is_an_error_that_lists_the_steps() {
        let error = parse(&["--only", "formt"]);
        assert!(
            error
                .as_ref()
                .is_err_and(|why| why.contains("`formt`") && why.contains("test, sdk-go")),
            "{error:?}"
        );
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["--fast"]).is_err());
    }
}
