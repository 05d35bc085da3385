//! Folders inside a crate that may use only some of its modules. Cargo sees crates, not folders.

/// A folder, and the modules of its crate that it may use.
struct Layer {
    folder: &'static str,
    may_use: &'static [&'static str],
}

const LAYERS: [Layer; 1] = [Layer {
    folder: "crates/jeton-server/src/transport/",
    may_use: &["transport", "error", "text_file"],
}];

/// What a source uses although its folder may not.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    let Some(layer) = LAYERS.iter().find(|layer| path.starts_with(layer.folder)) else {
        return Vec::new();
    };
    let mut broken = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for module in used_modules(line) {
            if !layer.may_use.contains(&module) {
                let (folder, allowed) = (layer.folder, layer.may_use.join(", "));
                broken.push(format!(
                    "{path}:{}: `crate::{module}`: {folder} may use {allowed} only",
                    index + 1
                ));
            }
        }
    }
    broken
}

/// The module in each `crate::MODULE`. Of a list, its brace: a list may go on in the next line, so it is never
/// allowed.
fn used_modules(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crate::").map(|(at, found)| {
        let rest = &line[at + found.len()..];
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        match rest.find(|letter| !is_name(letter)) {
            Some(0) => &rest[..1],
            Some(end) => &rest[..end],
            None => rest,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: &str = "crates/jeton-server/src/transport/tls.rs";

    #[test]
    fn arrow_against_the_layers_fails() {
        let text = "use crate::error::Error;\nuse crate::service::Service;\n";
        let broken = check(INSIDE, text);
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(
            broken[0].contains("tls.rs:2: `crate::service`"),
            "{broken:?}"
        );
        assert_eq!(check(INSIDE, "let a = crate::config::read();").len(), 1);
        assert_eq!(check(INSIDE, "use crate::{\n").len(), 1);
    }

    #[test]
    fn arrow_along_the_layers_passes() {
        let text = "use crate::transport::limits;\nuse crate::text_file;\nuse super::peer::Peer;\n";
        assert_eq!(check(INSIDE, text), [""; 0]);
        let outside = "crates/jeton-server/src/route.rs";
        assert_eq!(check(outside, "use crate::service::Service;"), [""; 0]);
    }
}
