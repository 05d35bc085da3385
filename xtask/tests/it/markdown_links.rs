//! Relative links of Markdown files lead to files and headings that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with files that others wrote or that tools made.
const SKIPPED: [&str; 3] = ["node_modules", "target", "vectors"];

#[test]
fn markdown_relative_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut pages = Vec::new();
    collect(root, &mut pages);
    assert!(pages.len() > 20, "only {} pages found", pages.len());
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for link in links(&text) {
            if let Err(why) = follow(page, &link) {
                broken.push(format!("{}: {link}: {why}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn links_in_code_are_left_out() {
    let text = "[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n![g](h.svg \"title\") [i](https://example.com)\n";
    assert_eq!(links(text), ["b.md", "h.svg"]);
}

#[test]
fn anchors_are_spelled_as_github_does() {
    assert_eq!(
        anchor("The manifest, `driver.toml`"),
        "the-manifest-drivertoml"
    );
    assert_eq!(anchor("A/A pairs"), "aa-pairs");
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_symlink() || name.starts_with('.') || SKIPPED.contains(&name) {
            continue;
        }
        if path.is_dir() {
            collect(&path, pages);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
}

/// The targets of links and images, without those to other sites and to Rust items.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let outside_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
        for rest in outside_code.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if !target.contains("://") && !target.contains("::") && !target.starts_with("mailto:") {
                links.push(target.to_owned());
            }
        }
    }
    links
}

/// The lines outside of fenced code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

fn follow(page: &Path, link: &str) -> Result<(), String> {
    let (path, fragment) = match link.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (link, None),
    };
    let target = match path {
        "" => page.to_path_buf(),
        path => page.parent().unwrap().join(path),
    };
    if !target.exists() {
        return Err("the file does not exist".to_owned());
    }
    let Some(fragment) = fragment else {
        return Ok(());
    };
    let text = fs::read_to_string(&target).map_err(|error| error.to_string())?;
    let mut headings = prose(&text).filter(|line| line.starts_with('#'));
    let found = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == fragment);
    found
        .then_some(())
        .ok_or_else(|| "the heading does not exist".to_owned())
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
