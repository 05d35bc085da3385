//! The crate graph: as Cargo builds it, and as ARCHITECTURE.md draws it.
//!
//! An arrow on the page points from a crate to a crate that it uses, and a dotted arrow to one that only its tests
//! use. The page may leave an arrow out if others lead there. Every arrow that it draws must be a dependency of its
//! kind in Cargo, and every dependency in Cargo must follow the drawn arrows. Examples are not drawn: see [`EXAMPLE`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::PAGE;
use crate::command::Error;

/// Only tests use these.
const FOR_TESTS: [&str; 1] = ["jeton-testkit"];

/// The names of examples begin with this. They are programs of users: they use published crates only, and
/// nothing uses them.
const EXAMPLE: &str = "jeton-example-";

/// The crates on crates.io. All others have `publish = false`.
pub(crate) const PUBLISHED: [&str; 5] = [
    "jeton",
    "jeton-client",
    "jeton-jwks",
    "jeton-proto",
    "jeton-tower",
];

/// No crate uses these: xtask starts them when it is asked to.
const STARTED_BY_XTASK: [&str; 1] = ["jeton-studies"];

/// The names of the lab's crates begin with this. No crate in `crates/` uses one, also in its tests.
const OF_THE_LAB: &str = "jeton-lab";

/// Every check waits until this crate is built, so it uses no other crate of the workspace.
const BUILT_FIRST: &str = "xtask";

/// The part of `cargo metadata` that is checked.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    name: String,
    #[serde(default)]
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    pub(super) fn parse(json: &str) -> Result<Self, Error> {
        serde_json::from_str(json)
            .map_err(|error| Error::Failed(format!("cargo metadata cannot be read: {error}")))
    }

    fn has(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }

    /// Dependencies among the workspace's crates: user, used, and whether only tests use it.
    fn arrows(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.packages.iter().flat_map(|package| {
            (package.dependencies.iter())
                .filter(|used| self.has(&used.name) && used.name != package.name)
                .map(|used| {
                    let is_dev = used.kind.as_deref() == Some("dev");
                    (package.name.as_str(), used.name.as_str(), is_dev)
                })
        })
    }
}

/// Arrows: user, and what it uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The arrows that the page draws.
#[derive(Default)]
struct Drawn {
    normal: Arrows,
    /// The dotted ones: of tests.
    dev: Arrows,
}

/// Every difference between Cargo and the page.
pub(super) fn check(metadata: &Metadata, page: &str) -> Vec<String> {
    let drawn = drawn_arrows(page);
    let mut broken = Vec::new();
    for package in &metadata.packages {
        if !package.name.starts_with(EXAMPLE) && !names(page, &package.name) {
            broken.push(format!(
                "{PAGE}: the crate `{}` is not on the page",
                package.name
            ));
        }
    }
    for package in &metadata.packages {
        let of_the_lab = |used: &&Dependency| used.name.starts_with(OF_THE_LAB);
        let is_outside = package.manifest_path.contains("/crates/");
        if let Some(used) = package.dependencies.iter().find(of_the_lab)
            && is_outside
        {
            broken.push(format!(
                "`{}` uses `{}`: nothing in crates/ uses the lab",
                package.name, used.name
            ));
        }
    }
    for (user, used, is_dev) in metadata.arrows() {
        // A study is a check, too.
        if FOR_TESTS.contains(&used) && !is_dev && !STARTED_BY_XTASK.contains(&user) {
            broken.push(format!(
                "`{user}` uses `{used}`, which is for tests: move it to [dev-dependencies]"
            ));
        } else if user.starts_with(EXAMPLE) {
            if !PUBLISHED.contains(&used) {
                broken.push(format!(
                    "`{user}` uses `{used}`, which is not published: an example is a program of a user"
                ));
            }
        } else if STARTED_BY_XTASK.contains(&used) {
            broken.push(format!(
                "`{user}` uses `{used}`, which is built only when xtask starts it: move the code to a crate below \
                 both"
            ));
        } else if user == BUILT_FIRST {
            broken.push(format!(
                "`{user}` uses `{used}`, and every check waits until it is built: move the task to `jeton-studies`"
            ));
        } else if !drawn.lead_to(user, used, is_dev) {
            let of_tests = if is_dev { " in its tests" } else { "" };
            broken.push(format!(
                "`{user}` uses `{used}`{of_tests}, but no arrow on {PAGE} leads there: move the code below both, or \
                 draw the arrow and say why"
            ));
        }
    }
    let has = |user: &str, used: &str, is_dev: bool| {
        (metadata.arrows()).any(|arrow| arrow == (user, used, is_dev))
    };
    for (user, used) in pairs(&drawn.normal) {
        if !has(user, used, false) {
            broken.push(format!(
                "{PAGE}: `{user} --> {used}` is drawn, but Cargo has no such dependency"
            ));
        }
    }
    for (user, used) in pairs(&drawn.dev) {
        if !has(user, used, true) || has(user, used, false) {
            broken.push(format!(
                "{PAGE}: `{user} -.-> {used}` is drawn, but in Cargo it is no dependency of tests alone"
            ));
        }
    }
    broken
}

fn pairs(arrows: &Arrows) -> impl Iterator<Item = (&str, &str)> {
    arrows
        .iter()
        .flat_map(|(user, all)| all.iter().map(move |used| (user.as_str(), used.as_str())))
}

impl Drawn {
    /// Whether following the arrows from `user` arrives at `used`. A crate's tests may begin with a dotted one.
    fn lead_to(&self, user: &str, used: &str, is_dev: bool) -> bool {
        let of_tests = self.dev.get(user).filter(|_| is_dev);
        let mut open: Vec<&str> = of_tests.into_iter().flatten().map(String::as_str).collect();
        open.push(user);
        let mut seen: BTreeSet<&str> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            if at == used {
                return true;
            }
            for next in self.normal.get(at).into_iter().flatten() {
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        false
    }
}

/// Reads the page's mermaid graphs: `a[name] --> b` or `a -.-> b`, in which a later `a` stands for `name`.
fn drawn_arrows(page: &str) -> Drawn {
    let mut full: BTreeMap<String, String> = BTreeMap::new();
    let mut pairs: Vec<(String, String, bool)> = Vec::new();
    let mut inside = false;
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            inside = line == "```mermaid";
            continue;
        }
        let normal = line.split_once("-->").map(|(from, to)| (from, to, false));
        let dotted = || line.split_once("-.->").map(|(from, to)| (from, to, true));
        let Some((from, to, is_dev)) = normal.or_else(dotted).filter(|_| inside) else {
            continue;
        };
        // Several crates on one side are joined by `&`.
        for from in from.split('&') {
            let from = node_id(from, &mut full);
            for to in to.split('&') {
                let to = node_id(to, &mut full);
                pairs.push((from.clone(), to, is_dev));
            }
        }
    }
    let name = |id: String| full.get(&id).cloned().unwrap_or(id);
    let mut drawn = Drawn::default();
    for (from, to, is_dev) in pairs {
        let arrows = if is_dev {
            &mut drawn.dev
        } else {
            &mut drawn.normal
        };
        arrows.entry(name(from)).or_default().insert(name(to));
    }
    drawn
}

/// The id of a node, whose full name is remembered.
fn node_id(node: &str, full: &mut BTreeMap<String, String>) -> String {
    let node = node.trim();
    match node.split_once('[') {
        Some((id, name)) => {
            full.insert(id.to_owned(), name.trim_end_matches(']').to_owned());
            id.to_owned()
        }
        None => node.to_owned(),
    }
}

/// Whether the page has `name` as a whole word: `jeton-lab` does not name `jeton`.
fn names(page: &str, name: &str) -> bool {
    page.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter)))
        .any(|word| word == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const DRAWING: &str = "jeton top lib mid jeton-testkit jeton-studies xtask\n```mermaid\ngraph RL\n  \
                           t[top] --> m[mid]\n  m --> lib\n```\n";

    const PACKAGES: [&str; 8] = [
        "top",
        "mid",
        "lib",
        "jeton-testkit",
        "jeton",
        "jeton-example-a",
        "jeton-studies",
        "xtask",
    ];

    fn metadata(arrows: &[(&str, &str, Option<&str>)]) -> Metadata {
        let packages: Vec<_> = (PACKAGES.iter())
            .map(|name| {
                let dependencies: Vec<_> = (arrows.iter())
                    .filter(|(user, _, _)| user == name)
                    .map(|(_, used, kind)| serde_json::json!({"name": used, "kind": kind}))
                    .collect();
                serde_json::json!({"name": name, "dependencies": dependencies})
            })
            .collect();
        Metadata::parse(&serde_json::json!({ "packages": packages }).to_string()).unwrap()
    }

    fn as_drawn() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
        vec![("top", "mid", None), ("mid", "lib", None)]
    }

    #[test]
    fn graph_as_drawn_passes() {
        assert_eq!(check(&metadata(&as_drawn()), DRAWING), [""; 0]);
    }

    #[test]
    fn dependency_along_drawn_arrows_passes() {
        let mut arrows = as_drawn();
        arrows.push(("top", "lib", None));
        assert_eq!(check(&metadata(&arrows), DRAWING), [""; 0]);
    }

    #[test]
    fn dependency_against_the_arrows_fails() {
        let mut arrows = as_drawn();
        arrows.push(("lib", "top", None));
        let broken = check(&metadata(&arrows), DRAWING);
        assert!(
            broken.len() == 1 && broken[0].starts_with("`lib` uses `top`"),
            "{broken:?}"
        );
    }

    #[test]
    fn dependency_of_tests_against_the_arrows_fails() {
        let mut arrows = as_drawn();
        arrows.push(("lib", "mid", Some("dev")));
        assert_eq!(check(&metadata(&arrows), DRAWING).len(), 1);
    }

    #[test]
    fn drawn_arrow_without_a_dependency_fails() {
        let broken = check(&metadata(&[("top", "mid", None)]), DRAWING);
        assert!(
            broken.len() == 1 && broken[0].contains("`mid --> lib` is drawn"),
            "{broken:?}"
        );
    }

    #[test]
    fn crate_that_the_page_does_not_name_fails() {
        let page = DRAWING.replace("jeton-testkit", "");
        let broken = check(&metadata(&as_drawn()), &page);
        assert!(broken[0].contains("`jeton-testkit` is not on the page"));
    }

    #[test]
    fn example_uses_published_crates_without_being_drawn() {
        let mut arrows = as_drawn();
        arrows.push(("jeton-example-a", "jeton", None));
        assert_eq!(check(&metadata(&arrows), DRAWING), [""; 0]);
        arrows.push(("jeton-example-a", "lib", Some("dev")));
        assert_eq!(check(&metadata(&arrows), DRAWING).len(), 1);
        let used = [as_drawn(), vec![("lib", "jeton-example-a", None)]].concat();
        assert_eq!(check(&metadata(&used), DRAWING).len(), 1);
    }

    #[test]
    fn crate_that_uses_the_lab_fails() {
        let package = serde_json::json!({"name": "jeton-cli", "manifest_path": "/w/crates/jeton-cli/Cargo.toml",
            "dependencies": [{"name": "jeton-lab-model", "kind": "dev"}]});
        let lab = serde_json::json!({"name": "jeton-lab-model", "dependencies": []});
        let metadata = serde_json::json!({"packages": [package, lab]}).to_string();
        let drawing = "```mermaid\ngraph RL\n  jeton-cli -.-> jeton-lab-model\n```\n";
        let broken = check(&Metadata::parse(&metadata).unwrap(), drawing);
        assert!(
            broken.len() == 1 && broken[0].contains("nothing in crates/ uses the lab"),
            "{broken:?}"
        );
    }

    #[test]
    fn crate_that_uses_the_studies_fails() {
        let drawing = DRAWING.replace("m --> lib", "m --> lib\n  lib --> jeton-studies");
        let mut arrows = as_drawn();
        arrows.push(("lib", "jeton-studies", None));
        let broken = check(&metadata(&arrows), &drawing);
        assert!(
            broken.len() == 1 && broken[0].contains("only when xtask starts it"),
            "{broken:?}"
        );
    }

    #[test]
    fn xtask_that_uses_another_crate_fails() {
        let drawing = DRAWING.replace("m --> lib", "m --> lib\n  xtask --> lib");
        let mut arrows = as_drawn();
        arrows.push(("xtask", "lib", None));
        let broken = check(&metadata(&arrows), &drawing);
        assert!(
            broken.len() == 1 && broken[0].starts_with("`xtask` uses `lib`"),
            "{broken:?}"
        );
    }

    #[test]
    fn testkit_outside_tests_fails() {
        let drawing = DRAWING.replace("m --> lib", "m --> lib\n  lib -.-> jeton-testkit");
        let mut arrows = as_drawn();
        arrows.push(("lib", "jeton-testkit", Some("dev")));
        assert_eq!(check(&metadata(&arrows), &drawing), [""; 0]);
        let drawing = DRAWING.replace("m --> lib", "m --> lib\n  lib --> jeton-testkit");
        let mut arrows = as_drawn();
        arrows.push(("lib", "jeton-testkit", None));
        let broken = check(&metadata(&arrows), &drawing);
        assert!(
            broken.len() == 1 && broken[0].contains("move it to [dev-dependencies]"),
            "{broken:?}"
        );
    }

    /// Returns a page with these arrows.
    fn page(arrows: &str) -> String {
        let named = PACKAGES.join(" ");
        format!("{named}\n```mermaid\ngraph RL\n{arrows}\n```\n")
    }

    #[test]
    fn dotted_arrow_is_a_dependency_of_tests() {
        let page = page("  top -.-> mid\n  mid --> lib");
        let of_mid = ("mid", "lib", None);
        let said = |arrows: &[(&str, &str, Option<&str>)]| check(&metadata(arrows), &page);
        let dev = ("top", "mid", Some("dev"));
        assert_eq!(said(&[of_mid, dev]), [""; 0]);
        // A crate's tests use what that crate uses.
        assert_eq!(said(&[of_mid, dev, ("top", "lib", Some("dev"))]), [""; 0]);
        for (arrows, why) in [
            (vec![of_mid, ("top", "mid", None)], "no arrow on"),
            (vec![of_mid, dev, ("top", "lib", None)], "no arrow on"),
            (vec![of_mid], "`top -.-> mid` is drawn"),
        ] {
            let broken = said(&arrows);
            assert!(broken.iter().any(|line| line.contains(why)), "{broken:?}");
        }
    }

    #[test]
    fn dotted_arrow_is_no_step_of_another_crate() {
        let page = page("  top --> mid\n  mid -.-> lib");
        let arrows = [("top", "mid", None), ("mid", "lib", Some("dev"))];
        assert_eq!(check(&metadata(&arrows), &page), [""; 0]);
        let more = [&arrows[..], &[("top", "lib", Some("dev"))]].concat();
        let broken = check(&metadata(&more), &page);
        assert!(
            broken.len() == 1 && broken[0].contains("`top` uses `lib` in its tests"),
            "{broken:?}"
        );
    }
}
