//! The checks that are taken out of the library, one at a time, and the test that must notice.

/// A library with one check less.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    /// Under `crates/jeton/src`.
    pub(super) file: &'static str,
    /// Occurs exactly once in the file.
    pub(super) find: &'static str,
    pub(super) put: &'static str,
    /// The test program of crates/jeton and the module in it, or `lib` for the unit tests.
    pub(super) test: &'static str,
}

const fn mutant(
    name: &'static str,
    file: &'static str,
    find: &'static str,
    put: &'static str,
    test: &'static str,
) -> Mutant {
    Mutant {
        name,
        file,
        find,
        put,
        test,
    }
}

/// Every mutant, by the part of the library that it weakens.
#[rustfmt::skip]
pub(super) const MUTANTS: &[Mutant] = &[
    // JSON and base64url
    mutant("duplicate-members", "json/scanner.rs", "if !names.insert(name) {", "if !names.insert(name) && false {", "it::jws::attacks"),
    mutant("array-depth", "json/scanner.rs", "fn array(&mut self, depth: u32) -> Result<(), ScanError> {\n        if depth > self.max_depth {", "fn array(&mut self, depth: u32) -> Result<(), ScanError> {\n        if false && depth > self.max_depth {", "it::jws::attacks"),
    mutant("trailing-data", "json/scanner.rs", "Some(_) => Err(ScanError::Syntax.into()),", "Some(_) => Ok(()),", "vectors::attack_tokens"),
    mutant("base64-space", "base64.rs", ".decode_to_vec(text)", ".decode_to_vec(text.trim_ascii())", "vectors::attack_tokens"),
    // JWS
    mutant("signature-ignored", "jws/compact.rs", "&& key.verify_bytes(signing_input, &decoded)", "|| key.verify_bytes(signing_input, &decoded)", "it::jws::attacks"),
    mutant("alg-ignored", "key/keys.rs", "if !key.matches_name(alg) =>", "if false =>", "it::jws::attacks"),
    mutant("keys-tried", "key/keys.rs", "candidates.clone().take(limit)", "candidates.clone()", "it::key::sets"),
    mutant("token-bytes", "jws/compact.rs", "if token.len() > limits.token_bytes {", "if false {", "it::jws::attacks"),
    mutant("header-bytes", "token_limits.rs", "&& encoded.len() > base64::encoded_length(self.header_bytes)", "&& false", "it::jws::attacks"),
    mutant("header-bytes-of-known", "jws/compact.rs", "limits.check_header(self.header)?;", "", "it::jws::attacks"),
    mutant("unprotected-alg", "jws/header.rs", "if outer.alg.is_some() && !reading.unprotected_alg {", "if false {", "it::jws::attacks"),
    mutant("private-key-in-header", "jws/header.rs", "\"jwk\" if jwk::is_private(value.raw()) => {", "\"jwk\" if false => {", "it::jws::attacks"),
    mutant("key-id-bytes", "token_limits.rs", "if kid.len() > self.key_id_bytes {", "if false {", "it::jws::attacks"),
    mutant("crit-ignored", "jws/header.rs", "(None, None) => return Ok(PayloadForm::Encoded),", "(_, None) => return Ok(PayloadForm::Encoded),", "vectors::attack_tokens"),
    mutant("b64-without-crit", "jws/header.rs", "(None, None) => return Ok(PayloadForm::Encoded),", "(None, _) => return Ok(PayloadForm::Encoded),", "vectors::attack_tokens"),
    mutant("crit-second-name", "jws/header.rs", "if !only_b64 || names.next().is_some() {", "if !only_b64 {", "it::jws::attacks"),
    mutant("jwt-unencoded", "jwt/verifier.rs", "Extensions::None, &mut header", "Extensions::B64, &mut header", "it::jws::attacks"),
    mutant("detached-with-payload", "jws/compact.rs", "if !self.payload.is_empty() {", "if false {", "it::jws::attacks"),
    mutant("signatures-unbounded", "jws/json_form.rs", "if all.len() == limits::SIGNATURES {", "if false {", "it::jws::attacks"),
    mutant("signatures-tried", "jws/json_form.rs", "left.checked_sub(1)", "left.checked_sub(0)", "it::jws::attacks"),
    mutant("serializations-mixed", "jws/json_form.rs", "if mixed {", "if false {", "it::jws::attacks"),
    mutant("payload-forms-mixed", "jws/json_form.rs", "if forms.any(|form| Some(form) != first) {", "if false {", "it::jws::attacks"),
    // Keys
    mutant("short-secret", "key/mac.rs", "if secret.len() < bytes_min {", "if secret.is_empty() {", "vectors::attack_tokens"),
    mutant("key-text-as-secret", "key/mac.rs", "if is_key_text(&secret) {", "if is_key_text(&secret) && false {", "vectors::attack_tokens"),
    mutant("key-text-in-base64", "key/key_text.rs", "is_key_text_within(&inner, layers - 1)", "false && is_key_text_within(&inner, layers - 1)", "it::jws::attacks"),
    mutant("key-text-in-utf16", "key/key_text.rs", "|| narrowed(bytes).is_some_and(|text| is(&text))", "", "it::jws::attacks"),
    mutant("key-text-of-openssh", "key/key_text.rs", "|| has_open_ssh_key(text)", "", "it::jws::attacks"),
    mutant("key-text-in-lower-case", "key/key_text.rs", "there.eq_ignore_ascii_case(word)", "there == word", "it::jws::attacks"),
    mutant("key-text-as-wrapping-key", "key/shared_secret.rs", "if is_key_text(&bytes) {", "if false {", "it::jws::attacks"),
    mutant("key-text-as-password", "key/password.rs", "if is_key_text(password) {", "if false {", "it::jws::attacks"),
    mutant("key-ops-lost", "key/mac.rs", "Operations::VerifyOnly => const { &[Operation::Verify.name()] },", "Operations::VerifyOnly => &[],", "it::key::encodings"),
    mutant("hybrid-point", "crypto/ecdsa.rs", "if point[0] != 4 {", "if false {", "it::key::encodings"),
    mutant("rsa-short", "crypto/rsa.rs", "if bits(n) < modulus_bits_min {", "if bits(n) < 512 && bits(n) < modulus_bits_min {", "vectors::weak_keys"),
    mutant("rsa-even-exponent", "crypto/rsa.rs", "if !odd(e) {", "if false {", "vectors::weak_keys"),
    mutant("ed25519-small-order", "crypto/ed25519.rs", "point.is_small_order() ||", "", "it::paseto::attacks"),
    // Claims
    mutant("issuer", "policy.rs", "if !accepted.iter().any(|accepted| accepted == issuer) {", "if false && !accepted.iter().any(|accepted| accepted == issuer) {", "lib"),
    mutant("audience", "policy.rs", "if !accepted.iter().any(is_for) {", "if false && !accepted.iter().any(is_for) {", "lib"),
    mutant("expired-now", "policy.rs", "at.saturating_add(self.leeway) <= now", "at.saturating_add(self.leeway) < now", "vectors::attack_tokens"),
    mutant("expiry-missing", "policy.rs", "if self.expiry_required && registered.expires_at.is_none() {", "if false {", "lib"),
    mutant("not-before", "policy.rs", "registered.not_before.is_some_and(|at| at > latest)", "false", "vectors::attack_tokens"),
    mutant("issued-in-the-future", "policy.rs", "registered.issued_at.is_some_and(|at| at > latest_issue)", "false", "vectors::attack_tokens"),
    mutant("issued-ahead-of-max-age", "policy.rs", "Some(_) => latest,", "Some(_) => now.saturating_add(self.leeway.max(ISSUED_AHEAD)),", "lib"),
    mutant("max-age", "policy.rs", "if end < now.whole_second() {", "if false {", "lib"),
    mutant("type-of-token", "policy.rs", "(None, Some(typ)) if same_type(typ, \"JWT\") => Ok(Typ::Jwt),", "(None, Some(_)) => Ok(Typ::Jwt),", "lib"),
    mutant("claim-type", "claims/registered.rs", "return Err(ReadDateError::Form);", "return Ok(Timestamp::MAX);", "vectors::attack_tokens"),
    mutant("issuer-type", "jwt/issuer_builder.rs", "key.key_id(), typ)?", "key.key_id(), \"JWT\")?", "it::any_format"),
    mutant("custom-claim-missing", "policy.rs", "if !self.required_custom.is_empty() {", "if false {", "lib"),
    mutant("multi-issuer-first", "jwt/multi_issuer.rs", "Ok(&self.issuers[*index])", "Ok(&self.issuers[index.saturating_sub(1)])", "it::jwt::multi_issuer"),
    // JWE
    mutant("zip-without-danger", "jwe/decrypter.rs", "headers[0].is_compressed && !self.is_inflating", "false", "it::jwe::attacks"),
    mutant("inflated-bytes", "jwe/decrypter.rs", "by_ratio.min(limits::INFLATED_BYTES)", "by_ratio.max(limits::INFLATED_BYTES)", "it::jwe::attacks"),
    mutant("zip-unprotected", "jwe/header.rs", "if !is_protected || string()?.as_deref()", "if string()?.as_deref()", "it::jwe::attacks"),
    mutant("jwe-crit", "jwe/header.rs", "\"crit\" => return Err(Rejection::CriticalExtension),", "", "it::jwe::attacks"),
    mutant("jwe-name-twice", "jwe/header.rs", "if !self.names.insert(name) {", "if !self.names.insert(name) && false {", "it::jwe::attacks"),
    mutant("pbes2-few-rounds", "jwe/unwrap.rs", "if rounds < limits::PBES2_ROUNDS_MIN {", "if rounds == 0 {", "it::jwe::attacks"),
    mutant("pbes2-short-salt", "jwe/unwrap.rs", "if salt.len() < 8 {", "if false {", "it::jwe::attacks"),
    mutant("unprotected-enc", "jwe/decrypter.rs", "if !first.enc_is_protected() && !self.unprotected_enc {", "if false {", "it::jwe::attacks"),
    mutant("jwe-private-key-in-header", "jwe/header.rs", "\"jwk\" => drop(public_key()?),", "", "it::jwe::attacks"),
    mutant("epk-private", "jwe/header.rs", "\"epk\" => self.epk = Some(public_key()?),", "\"epk\" => self.epk = of_kind(Kind::Object)?,", "it::jwe::attacks"),
    mutant("aad-empty", "jwe/serialized.rs", "parts.aad = Some(present(value)?)", "parts.aad = Some(string(value)?)", "it::jwe::attacks"),
    mutant("direct-with-encrypted-key", "jwe/unwrap.rs", "(encrypted.is_empty() && key.enc() == enc)", "(key.enc() == enc)", "it::jwe::attacks"),
    mutant("agreed-with-encrypted-key", "jwe/unwrap.rs", "encrypted.is_empty().then_some(secret)", "Some(secret)", "it::jwe::attacks"),
    mutant("recipients-unbounded", "jwe/serialized.rs", "if all.len() == limits::RECIPIENTS {", "if false {", "it::jwe::attacks"),
    mutant("tries-unbounded", "jwe/decrypter.rs", "if !budget.take_try() {", "if false && !budget.take_try() {", "it::jwe::attacks"),
    mutant("cbc-tag", "crypto/aes_cbc_hmac.rs", "if !bool::from(mac.as_ref()[..key.len() / 2].ct_eq(tag)) {", "if false {", "it::jwe::attacks"),
    mutant("rsa1-5-tells", "crypto/rsa_encryption.rs", " Some(secret)", " bool::from(is_padded).then_some(secret)", "lib"),
    mutant("nested-without-cty", "jwt/nested.rs", "if !is_jwt {", "if !is_jwt && false {", "it::jwe::attacks"),
    // PASETO
    mutant("paseto-footer-unbound", "paseto/verifier.rs", "Some(wanted) if !bool::from(wanted.ct_eq(&parts.footer)) => {", "Some(_) if false => {", "it::paseto::attacks"),
    mutant("paseto-v4-mac", "paseto/v4.rs", "if !bool::from(mac.as_slice().ct_eq(tag)) {", "if false {", "it::paseto::attacks"),
    mutant("paseto-v3-mac", "paseto/aes_ctr_hmac.rs", "if !bool::from(mac.as_slice().ct_eq(given)) {", "if false {", "it::paseto::attacks"),
    mutant("paseto-empty-footer", "paseto/token.rs", "if encoded.is_empty() {", "if false {", "it::paseto::attacks"),
    mutant("paseto-footer-bytes", "paseto/token.rs", "if encoded.len() > base64::encoded_length(limits::FOOTER_BYTES) {", "if false {", "it::paseto::attacks"),
];
