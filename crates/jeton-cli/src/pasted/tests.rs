#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::extract;

fn encode(text: &str) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(text.as_bytes())
}

fn base64url(chars: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&b"AZaz09-_Q7"[..]), chars)
        .prop_map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Returns tokens of every format, with the lengths of real signatures and tags.
fn token() -> impl Strategy<Value = String> {
    let space = proptest::sample::select(vec!["", " ", "\n", "\r\n  "]);
    let claims = "[a-z]{0,40}".prop_map(|sub| encode(&format!(r#"{{"sub":"{sub}","exp":1}}"#)));
    let jws = (
        proptest::sample::select(vec![
            ("HS256", 32),
            ("ES256", 64),
            ("ES512", 132),
            ("RS256", 256),
            ("PS384", 384),
            ("RS512", 512),
            ("ML-DSA-44", 2420),
        ]),
        space.clone(),
        claims,
    )
        .prop_flat_map(|((alg, bytes), space, claims)| {
            let header = encode(&format!(r#"{{{space}"alg":"{alg}","kid":"k"}}"#));
            base64url((bytes * 4usize).div_ceil(3))
                .prop_map(move |signature| format!("{header}.{claims}.{signature}"))
        });
    let jwe = (
        proptest::sample::select(vec![("A256GCM", 22), ("A192CBC-HS384", 32)]),
        space,
        base64url(40),
    )
        .prop_flat_map(|((enc, tag), space, key)| {
            let header = encode(&format!(r#"{{{space}"alg":"A128KW","enc":"{enc}"}}"#));
            (base64url(16), base64url(31), base64url(tag))
                .prop_map(move |(iv, text, tag)| format!("{header}.{key}.{iv}.{text}.{tag}"))
        });
    let paseto = (
        1..=4,
        "public|local",
        base64url(110),
        prop::option::of(base64url(8)),
    )
        .prop_map(|(version, purpose, body, footer)| match footer {
            Some(footer) => format!("v{version}.{purpose}.{body}.{footer}"),
            None => format!("v{version}.{purpose}.{body}"),
        });
    prop_oneof![3 => jws, 1 => jwe, 1 => paseto]
}

/// Puts text around a token. `@` is the token.
const AROUND: [&str; 36] = [
    "Bearer @",
    "bearer   @\r\n",
    "DPoP @",
    "Authorization: Bearer @",
    "authorization: bearer @\r\n",
    "\"Authorization\": \"Bearer @\",",
    "curl -H 'Authorization: Bearer @' https://api.example/v1",
    "-H \\\"Authorization: Bearer @\\\"",
    "\"@\"",
    "'@'",
    "`@`",
    "\u{201c}@\u{201d}",
    "$'@\\n'",
    "\"@\\n\"",
    "\\\"@\\\"",
    "{\"access_token\": \"@\", \"token_type\": \"Bearer\", \"expires_in\": 300}",
    "{\"data\":{\"deep\":[1,{\"id_token\":\"@\"}]}}\n",
    "[\"@\"]",
    "{access_token: '@'}",
    "access_token=@; Path=/; HttpOnly",
    "Set-Cookie: session=@; Path=/; Secure",
    "Cookie: a=b; session=@; c=d",
    "https://app.example/cb#access_token=@&state=1",
    "https://app.example/cb?a=%20&id_token=@",
    "/cb?token=@#x",
    "https://jwt.example/verify/@",
    "grant_type=x&assertion=@&scope=y",
    "token=@",
    "export TOKEN=\"@\"",
    "TOKEN='@' ./run",
    "@,",
    "@;",
    " \t@ \r\n\r\n",
    "\u{feff}@",
    "(@)",
    "<token>@</token>",
];

/// Wraps a text into lines of this many characters.
fn wrapped(text: &str, width: usize, line_break: &str) -> String {
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(width)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join(line_break)
}

proptest! {
    #[test]
    fn extract_bare_token_is_unchanged(token in token()) {
        let pasted = extract(&token, None).unwrap();
        prop_assert_eq!(&*pasted.token, &token);
        prop_assert!(pasted.notes.is_empty());
    }

    #[test]
    fn extract_text_around_a_token_is_removed(
        token in token(),
        around in proptest::sample::select(&AROUND[..]),
    ) {
        let text = around.replace('@', &token);
        let pasted = extract(&text, None).unwrap();
        prop_assert_eq!(&*pasted.token, &token, "{}", around);
        prop_assert!(!pasted.notes.is_empty());
        prop_assert!(pasted.notes.iter().all(|note| !note.contains(&token[..20])));
    }

    #[test]
    fn extract_wrapped_token_is_joined(
        token in token(),
        width in 20usize..200,
        around in proptest::sample::select(&["@", "Bearer @", "\"@\"", "Authorization: Bearer @\r\nAccept: */*"][..]),
        line_break in proptest::sample::select(&["\n", "\r\n", "\n    ", "\\\n", "\n> "][..]),
    ) {
        let text = around.replace('@', &wrapped(&token, width, line_break));
        prop_assert_eq!(&*extract(&text, None).unwrap().token, &token);
    }

    #[test]
    fn extract_escaped_token_is_decoded(token in token()) {
        let percent = format!("https://a.example/?next=%2Fcb%23access_token%3D{}%26state", token.replace('.', "%2E"));
        prop_assert_eq!(&*extract(&percent, None).unwrap().token, &token);
        let json = format!("{{\"url\":\"https://a.example#t\\u003d{token}\\u0026x\"}}");
        prop_assert_eq!(&*extract(&json, None).unwrap().token, &token);
        let markdown = token.replace('_', "\\_").replace('-', "\\-");
        prop_assert_eq!(&*extract(&markdown, None).unwrap().token, &token);
    }

    #[test]
    fn extract_two_tokens_are_an_error(one in token(), two in token()) {
        for text in [
            format!("{one}\n{two}\n"),
            format!("{one}, {two}"),
            format!("{{\"access_token\":\"{one}\",\"id_token\":\"{two}\"}}"),
        ] {
            let failure = extract(&text, None).unwrap_err();
            prop_assert!(failure.message().starts_with("these are 2 tokens: "), "{}", failure.message());
            prop_assert!(!failure.message().contains(&one[..24]));
        }
        let text = format!("{{\"access_token\":\"{one}\",\"id_token\":\"{two}\"}}");
        prop_assert_eq!(&*extract(&text, Some("id_token")).unwrap().token, &two);
    }

    #[test]
    fn extract_any_text_does_not_panic(text in "\\PC*", token in token(), at in 0usize..400) {
        let _ = extract(&text, None);
        let mut changed = token;
        let at = at % changed.len();
        changed.insert_str(at, &text);
        let _ = extract(&changed, None);
        let _ = extract(&changed, Some("a"));
    }

    #[test]
    fn extract_text_of_token_pieces_does_not_panic(
        pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "eyJ", "eyJhbGciOiJFUzI1NiJ9", "v4.public.", ".", "..", " ", "\n", "\"", "\\", "%2E", "\\u002e", "=",
                "Bearer ", "{", "}", ":", ",", "~", "\u{e9}", "\u{200b}", "ew", "> ",
            ][..]),
            0..60,
        ),
    ) {
        let _ = extract(&pieces.concat(), None);
    }
}

#[test]
fn extract_text_without_a_token_is_unchanged() {
    for text in [
        "",
        " ",
        "eyJ",
        "a.b.c",
        "www.example.com",
        "eye.contact.now",
        "eyJhbGciOiJFUzI1NiJ9.e30",
        "eyJhbGciOiJFUzI1NiJ9.e30.AA.x",
        "eyJhbGciOiJFUzI1NiJ9.e30.AA\u{e9}",
        "eyJhbGciOiJFUzI1NiJ9.e30.AA!",
        "xeyJhbGciOiJFUzI1NiJ9.e30.AA",
        "eyJhbGciOiJFUzI1NiJ9.e3\"0.AA",
        "eyJhbGciOiJFUzI1NiJ9.e30.A\"A",
        "eyJhbGciOiJFUzI1NiJ9.e30...A",
        "k4.local.AAAA",
        r#"{"payload":"e30","protected":"eyJhbGciOiJFUzI1NiJ9","signature":"AA"}"#,
        r#"{"payload":"e30","protected":"e30","header":{"t":"eyJhbGciOiJFUzI1NiJ9.e30.AA"},"signature":"AA"}"#,
        "Bearer abc",
    ] {
        let pasted = extract(text, None).unwrap();
        assert_eq!(pasted.token, text);
        assert!(pasted.notes.is_empty(), "{text}");
    }
}

#[test]
fn extract_characters_of_the_token_are_kept() {
    // Padding and the other alphabet are for the verifier to reject.
    for token in [
        "eyJhbGciOiJFUzI1NiJ9=.e30=.AA==",
        "eyJhbGciOiJFUzI1NiJ9.e30.A+/A",
        "eyJhbGciOiJFUzI1NiJ9.e30.",
    ] {
        for text in [
            token.to_owned(),
            format!("\"{token}\""),
            format!("Bearer {token}"),
        ] {
            assert_eq!(extract(&text, None).unwrap().token, token, "{text}");
        }
    }
}

#[test]
fn extract_word_after_a_complete_token_is_not_joined() {
    let token = format!("{}.e30.{}", encode(r#"{"alg":"ES256"}"#), "A".repeat(86));
    for after in ["thanks", "Accept", "eyJ", "a b c"] {
        for line_break in ["\n", " "] {
            let text = format!("{token}{line_break}{after}");
            assert_eq!(extract(&text, None).unwrap().token, token, "{after}");
        }
    }
}

#[test]
fn extract_notes_name_what_was_removed() {
    let token = format!("{}.e30.{}", encode(r#"{"alg":"ES256"}"#), "A".repeat(86));
    for (text, expected) in [
        ("Bearer @", &["`Bearer` before the token was removed"][..]),
        (
            "Authorization: Bearer @",
            &["`Authorization: Bearer` before the token was removed"],
        ),
        ("\"@\"", &["quotes around the token were removed"]),
        ("@,", &["a comma after the token was removed"]),
        ("@\n\n", &["white space around the token was removed"]),
        (
            "access_token=@; Path=/",
            &[
                "`access_token=` before the token was removed",
                "text after the token was removed",
            ],
        ),
        (
            "{\"access_token\": \"@\", \"expires_in\": 300}",
            &["the token was taken from the member `access_token` of JSON text"],
        ),
        (
            "https://app.example/cb#access_token=@&state=1",
            &["the token was taken from the parameter `access_token` of a URL"],
        ),
        ("see @", &["text before the token was removed"]),
    ] {
        let text = text.replace('@', &token);
        let pasted = extract(&text, None).unwrap();
        assert_eq!(pasted.notes, expected, "{text}");
    }
}

#[test]
fn extract_hostile_text_is_linear() {
    // The scan stops at its budget: without one, these texts take hours.
    for piece in [
        "eyJ ",
        "eyJ.",
        "eyJ.\n",
        "eyJhbGciOiJFUzI1NiJ9.\n",
        "eyJhbGciOiJFUzI1NiJ9\\.",
        "v4.public. ",
        "\"eyJ.e.A",
        "%65yJ%2E",
        "\\u0065yJ",
        "> eyJ\n",
        "{\"eyJ\":",
    ] {
        let mut text = piece.repeat((1 << 20) / piece.len());
        let _ = extract(&text, None);
        text.push_str(". . . . . .");
        let _ = extract(&text, Some("a"));
    }
}
