//! The frame and the style of pages that jeton writes: `jeton inspect --web`, and the page of the admin listener.
//!
//! A page has no script and loads nothing: its content security policy allows only its style sheet, by its hash. So
//! untrusted text can only change the appearance, and maud escapes that text.

use base64_simd::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// The style of all pages: sections, notes, tables, charts and print, in light and dark.
const STYLE: &str = include_str!("page.css");

/// A page.
#[derive(Debug)]
pub struct Page<'p> {
    /// The program that writes it. It is above the heading.
    pub program: &'p str,
    /// The heading. With the program, it is the title.
    pub heading: &'p str,
    /// Style in addition to that of all pages.
    pub style: &'static str,
    /// The sections.
    pub main: Markup,
    /// What made the page.
    pub footer: Markup,
}

impl Page<'_> {
    /// Returns its content security policy (CSP Level 3), for a `meta` element or a header.
    pub fn policy(&self) -> String {
        format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            STANDARD.encode_to_string(Sha256::digest(self.all_style()))
        )
    }

    /// Returns the page: UTF-8 HTML without other files.
    pub fn html(&self) -> String {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(self.policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (self.program) ": " (self.heading) }
                    style { (PreEscaped(self.all_style())) }
                }
                body {
                    a.skip href="#main" { "Skip to the report" }
                    header {
                        p.eyebrow { (self.program) }
                        h1 { (self.heading) }
                    }
                    main #main { (self.main) }
                    footer { p { (self.footer) } }
                }
            }
        }
        .into_string()
    }

    fn all_style(&self) -> String {
        format!("{STYLE}{}", self.style)
    }
}
