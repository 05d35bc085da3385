//! The log of one call.

use std::fmt::Write as _;

use xtask::command::{Error, Workspace, output};

use super::{Part, Plan};
use crate::origin;

/// The log: one Markdown file a day and commit.
pub(super) struct Log {
    path: String,
    text: String,
}

impl Log {
    pub(super) fn new(workspace: &Workspace, plan: &Plan) -> Result<Self, Error> {
        let (day, commit) = (origin::day(workspace)?, origin::commit(workspace)?);
        let rustc = output(workspace.command("rustc").arg("-V"))?;
        let (kind, options) = match plan.parts[..] {
            [Part::Fuzz] => ("-fuzz", format!("--only fuzz --minutes {}", plan.minutes)),
            [Part::Ffi] => ("-ffi", format!("--only ffi --minutes {}", plan.minutes)),
            [Part::Attack] => (
                "-attack",
                format!("--only attack --minutes {}", plan.minutes),
            ),
            [Part::Readers] => (
                "-readers",
                format!("--only readers --minutes {}", plan.minutes),
            ),
            [Part::Chaos] => ("-chaos", format!("--only chaos --minutes {}", plan.minutes)),
            [Part::Lab] => (
                "-lab",
                format!("--only lab --minutes {} --runs {}", plan.minutes, plan.runs),
            ),
            [Part::Kill] => ("-kill", format!("--only kill --kills {}", plan.kills)),
            [Part::Overload] => ("-overload", "--only overload".to_owned()),
            [Part::Records] => ("-records", "--only records".to_owned()),
            _ => (
                "",
                format!(
                    "--minutes {} --runs {} --kills {}",
                    plan.minutes, plan.runs, plan.kills
                ),
            ),
        };
        Ok(Self {
            path: format!("docs/soak/{day}-{commit}{kind}.md"),
            text: format!(
                "# Soak of {day}, commit {commit}\n\n`cargo xtask soak {options}`\n\n\
                 {}, {}.\n",
                rustc.trim(),
                origin::cpu()
            ),
        })
    }

    pub(super) fn section(&mut self, title: &str, body: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\n## {title}\n{body}\n");
    }

    pub(super) fn write(&self, workspace: &Workspace) -> Result<&str, Error> {
        let failed = |error| Error::Usage(format!("{}: {error}", self.path));
        std::fs::create_dir_all(workspace.path("docs/soak")).map_err(failed)?;
        std::fs::write(workspace.path(&self.path), &self.text).map_err(failed)?;
        Ok(&self.path)
    }
}
