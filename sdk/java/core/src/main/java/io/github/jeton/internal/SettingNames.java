package io.github.jeton.internal;

import static java.util.Map.entry;

import java.util.Map;

// Written from crates/jeton-bindings/src/settings/rows.rs by `cargo xtask sdk settings`. Do not change it here.

/** Settings of a builder, with the methods that set them. A caller does not know the settings. */
public enum SettingNames {
    ISSUER(Map.ofEntries(
            entry("access_tokens", "accessTokens"),
            entry("cty", "contentType"),
            entry("enc", "encryptTo"),
            entry("encryption", "encryptTo"),
            entry("implicit_assertion", "implicitAssertion"),
            entry("issued_ago", "issuedAgo"),
            entry("typ", "type"),
            entry("without_expiry", "withoutExpiry"))),
    VERIFIER(Map.ofEntries(
            entry("access_tokens", "accessTokens"),
            entry("any_audience", "anyAudience"),
            entry("any_issuer", "anyIssuer"),
            entry("decryption", "decryptWith"),
            entry("enc", "contentEncryptions"),
            entry("implicit_assertion", "implicitAssertion"),
            entry("max_age", "maxAge"),
            entry("required", "require"),
            entry("shared_keys", "sharedKeys"),
            entry("typ", "types"),
            entry("without_expiry", "withoutExpiry"))),
    LIMITS(Map.ofEntries(
            entry("json_depth", "maxJsonDepth"),
            entry("keys_tried", "maxKeysTried"),
            entry("token_bytes", "maxTokenBytes"))),
    BYTES_ISSUER(Map.ofEntries(
            entry("cty", "contentType"),
            entry("implicit_assertion", "implicitAssertion"),
            entry("typ", "type"),
            entry("enc", "contentEncryption"))),
    BYTES_VERIFIER(Map.ofEntries(
            entry("enc", "contentEncryptions"),
            entry("implicit_assertion", "implicitAssertion"))),
    KEY(Map.ofEntries(
            entry("alg", "algorithm"),
            entry("crv", "curve"),
            entry("enc", "contentEncryption"),
            entry("kid", "keyId"),
            entry("rsa_bits", "rsaBits"))),
    KEY_SET(Map.ofEntries(
            entry("default_alg", "defaultAlgorithm"),
            entry("published", "parsePublished"))),
    REMOTE_KEYS(Map.ofEntries(
            entry("address", "at"),
            entry("allow_plain_http", "allowPlainHttp"),
            entry("allow_private_addresses", "allowPrivateAddresses"),
            entry("default_alg", "defaultAlgorithm"),
            entry("fresh_for", "freshFor"),
            entry("issuer", "discover"),
            entry("usable_for", "usableFor")));

    /** Flags, with the setting that each excludes. */
    static final Map<String, String> EXCLUDES = Map.of("without_expiry", "lifetime", "any_issuer", "issuer", "any_audience", "audience");

    private final Map<String, String> methods;

    SettingNames(Map<String, String> methods) {
        this.methods = methods;
    }

    /** Returns the method that sets a setting, or the setting itself. */
    String method(String setting) {
        return methods.getOrDefault(setting, setting);
    }
}
