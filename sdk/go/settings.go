// Written from crates/jeton-bindings/src/settings/rows.rs by `cargo xtask sdk settings`. Do not change it here.

package jeton

import "time"

// WithAudience sets the claim `aud`. In a verifier, it accepts only tokens for this audience (`aud`), or for one of
// several.
func WithAudience(audience ...string) Option {
	return sharedOption(func(c *config) { c.set("audience", oneOrList(audience)) })
}

// WithLifetime sets the claim `exp` to this time after `iat`. Without it, the claims of each token must have `exp`,
// unless [WithoutExpiry] is set. It must be whole seconds.
func WithLifetime(lifetime time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("lifetime", lifetime) })
}

// WithoutExpiry issues tokens without `exp`. In a verifier, it accepts tokens without `exp`. If a token has `exp`, it
// is still checked.
func WithoutExpiry() Option {
	return sharedOption(func(c *config) { c.set("without_expiry", true) })
}

// WithIssuedAgo sets the claim `iat` to this time before now, for verifiers whose clocks are behind. `exp` is also
// earlier, because [WithLifetime] counts from `iat`. It must be whole seconds.
func WithIssuedAgo(issuedAgo time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("issued_ago", issuedAgo) })
}

// WithContentType sets the content type in the header (`cty`).
func WithContentType(cty string) BytesOption {
	return bytesOption(func(c *config) { c.set("cty", cty) })
}

// WithAccessTokens issues access tokens (RFC 9068): the type `at+jwt`, and claims with `sub`, `jti` and `client_id`. In
// a verifier, it accepts only access tokens (RFC 9068): the type `at+jwt`, and the claims that the RFC requires.
func WithAccessTokens() Option {
	return sharedOption(func(c *config) { c.set("access_tokens", true) })
}

// WithDetached creates a JWS without its content (RFC 7515, appendix F).
func WithDetached() BytesOption {
	return bytesOption(func(c *config) { c.set("detached", true) })
}

// WithUnencoded signs the content without base64url encoding (RFC 7797, `b64`: false).
func WithUnencoded() BytesOption {
	return bytesOption(func(c *config) { c.set("unencoded", true) })
}

// WithFooter sets the footer of a PASETO, which is authenticated but not encrypted. In a verifier, it requires this
// footer of a PASETO. Without it, any footer is accepted.
func WithFooter(footer string) Option {
	return sharedOption(func(c *config) { c.set("footer", footer) })
}

// WithImplicitAssertion sets the implicit assertion of a PASETO: data that is authenticated, but not part of the token.
// In a verifier, it requires this implicit assertion of a PASETO: the same as the issuer.
func WithImplicitAssertion(implicitAssertion string) Option {
	return sharedOption(func(c *config) { c.set("implicit_assertion", implicitAssertion) })
}

// WithSharedKeys accepts several issuers that share the keys of the verifier. The verifier trusts each of the keys for
// each of these issuers, so an issuer can sign for another.
func WithSharedKeys() VerifierOption {
	return verifierOption(func(c *config) { c.set("shared_keys", true) })
}

// WithAnyIssuer accepts tokens of any issuer, and tokens without `iss`.
func WithAnyIssuer() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_issuer", true) })
}

// WithAnyAudience accepts tokens for any audience, and tokens without `aud`.
func WithAnyAudience() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_audience", true) })
}

// WithRequired rejects tokens that lack one of these claims. Further calls add more.
func WithRequired(required ...string) VerifierOption {
	return verifierOption(func(c *config) { c.add("required", required) })
}

// WithLeeway sets the allowed difference between clocks for `exp`, `nbf` and `iat`. `iat` may be 60 seconds ahead of
// the clock in any case, unless [WithMaxAge] is set. The default is 0. It must be whole seconds.
func WithLeeway(leeway time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("leeway", leeway) })
}

// WithMaxAge rejects tokens without `iat`, and tokens whose `iat` is longer ago than this. It must be whole seconds.
func WithMaxAge(maxAge time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("max_age", maxAge) })
}

// WithCache caches up to this number of verified tokens, so that each signature is verified once. `exp`, `nbf` and
// `iat` are still checked for each call. The default is no cache. It cannot be used with a remote key set.
func WithCache(cache int) VerifierOption {
	return verifierOption(func(c *config) { c.set("cache", cache) })
}

// WithKeyID sets the key id (`kid`).
func WithKeyID(kid string) KeyOption {
	return keyOption(func(c *config) { c.set("kid", kid) })
}

// WithRSABits sets the size of an RSA key, in bits. The default is 2048.
func WithRSABits(rsaBits int) KeyOption {
	return keyOption(func(c *config) { c.set("rsa_bits", rsaBits) })
}

// WithCurve sets the curve of a key for ECDH-ES. The default is P-256.
func WithCurve(crv string) KeyOption {
	return keyOption(func(c *config) { c.set("crv", crv) })
}

// WithPassword sets the password of an encrypted PKCS#8 key or PASERK.
func WithPassword(password string) KeyOption {
	return keyOption(func(c *config) { c.set("password", password) })
}

// WithPublishedKeys skips private keys and secrets, for a set of another party: everyone can read them in a published
// set.
func WithPublishedKeys() KeySetOption {
	return keySetOption(func(c *config) { c.set("published", true) })
}

// WithPrivateAddresses accepts a `jwks_uri` that is on another host than the issuer and has a private IP address.
func WithPrivateAddresses() RemoteOption {
	return remoteOption(func(c *config) { c.set("allow_private_addresses", true) })
}

// WithPlainHTTP accepts http for all hosts. Insecure: anyone on the network can replace the keys. Loopback hosts need
// no option.
func WithPlainHTTP() RemoteOption {
	return remoteOption(func(c *config) { c.set("allow_plain_http", true) })
}

// WithFreshFor sets the age at which keys are fetched again, in the background. `Cache-Control: max-age` of the
// response takes precedence. The default is 5 minutes. It must be whole seconds.
func WithFreshFor(freshFor time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("fresh_for", freshFor) })
}

// WithCooldown sets the minimum time between two requests. The default is 30 seconds. It must be whole seconds.
func WithCooldown(cooldown time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("cooldown", cooldown) })
}

// WithUsableFor sets the age up to which keys are used while fetching fails. The default is 1 day. It must be whole
// seconds.
func WithUsableFor(usableFor time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("usable_for", usableFor) })
}

// optionNames maps settings to the options that set them, for error messages.
var optionNames = map[string]string{
	"access_tokens":           "WithAccessTokens",
	"address":                 "NewRemoteKeySet",
	"alg":                     "WithAlgorithm",
	"allow_plain_http":        "WithPlainHTTP",
	"allow_private_addresses": "WithPrivateAddresses",
	"any_audience":            "WithAnyAudience",
	"any_issuer":              "WithAnyIssuer",
	"audience":                "WithAudience",
	"cache":                   "WithCache",
	"cooldown":                "WithCooldown",
	"crv":                     "WithCurve",
	"cty":                     "WithContentType",
	"decryption":              "WithDecryption",
	"default_alg":             "WithDefaultAlgorithm",
	"detached":                "WithDetached",
	"enc":                     "WithContentEncryption",
	"encryption":              "WithEncryption",
	"footer":                  "WithFooter",
	"fresh_for":               "WithFreshFor",
	"headers":                 "WithHeaders",
	"implicit_assertion":      "WithImplicitAssertion",
	"issued_ago":              "WithIssuedAgo",
	"issuer":                  "WithIssuer",
	"kid":                     "WithKeyID",
	"leeway":                  "WithLeeway",
	"lifetime":                "WithLifetime",
	"limits":                  "WithLimits",
	"max_age":                 "WithMaxAge",
	"password":                "WithPassword",
	"published":               "WithPublishedKeys",
	"required":                "WithRequired",
	"rsa_bits":                "WithRSABits",
	"serialization":           "WithSerialization",
	"shared_keys":             "WithSharedKeys",
	"typ":                     "WithType",
	"unencoded":               "WithUnencoded",
	"usable_for":              "WithUsableFor",
	"without_expiry":          "WithoutExpiry",
}

// contradicting maps a setting to the one that it excludes.
var contradicting = map[string]string{
	"any_audience":   "audience",
	"any_issuer":     "issuer",
	"audience":       "any_audience",
	"issuer":         "any_issuer",
	"lifetime":       "without_expiry",
	"without_expiry": "lifetime",
}

// producerOptions apply to signers and encrypters only. A verifier reads the values from the header.
var producerOptions = []string{"typ", "cty", "headers", "detached", "unencoded"}
