package jeton

import "time"

// WithIssuer sets `iss` of issued tokens, and requires it in verified tokens.
func WithIssuer(issuer string) Option {
	return sharedOption(func(c *config) { c.set("issuer", issuer) })
}

// WithIssuers accepts tokens of these issuers. Every key of the verifier is then trusted for every issuer in the list.
func WithIssuers(issuers ...string) VerifierOption {
	return verifierOption(func(c *config) { c.set("issuer", list(issuers)) })
}

// WithAnyIssuer accepts tokens of any issuer, and tokens without `iss`.
func WithAnyIssuer() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_issuer", true) })
}

// WithAudience sets `aud` of issued tokens. A verifier accepts tokens for any of these audiences.
func WithAudience(audiences ...string) Option {
	return sharedOption(func(c *config) { c.set("audience", oneOrList(audiences)) })
}

// WithAnyAudience accepts tokens for any audience, and tokens without `aud`.
func WithAnyAudience() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_audience", true) })
}

// WithLifetime sets the lifetime of tokens: `exp` is `iat` plus this duration, in whole seconds.
func WithLifetime(lifetime time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("lifetime", lifetime) })
}

// WithoutExpiry issues and accepts tokens without `exp`.
func WithoutExpiry() Option {
	return sharedOption(func(c *config) { c.set("without_expiry", true) })
}

// WithIssuedAgo sets `iat` to the current time minus this duration, for verifiers whose clocks are behind. `exp` is
// also earlier, because [WithLifetime] counts from `iat`.
func WithIssuedAgo(ago time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("issued_ago", ago) })
}

// WithAccessTokens issues or requires access tokens (RFC 9068): the type `at+jwt` and its required claims.
func WithAccessTokens() Option {
	return sharedOption(func(c *config) { c.set("access_tokens", true) })
}

// WithType sets the header type (`typ`): pass one type to an issuer, a signer or an encrypter. A [Verifier] accepts
// only these types. The default type of an issuer is JWT, and a verifier accepts JWT or a token without `typ`.
func WithType(types ...string) interface {
	Option
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("typ", oneOrList(types)) })
}

// WithRequired rejects tokens that lack one of these registered or custom claims. Further calls add more names.
func WithRequired(names ...string) VerifierOption {
	return verifierOption(func(c *config) { c.add("required", names) })
}

// WithLeeway sets the allowed clock difference for `exp`, `nbf` and `iat`. The default is 0.
func WithLeeway(leeway time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("leeway", leeway) })
}

// WithMaxAge rejects tokens without `iat`, and tokens whose `iat` is longer ago than this duration.
func WithMaxAge(age time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("max_age", age) })
}

// WithCache caches up to this number of verified tokens, so that each signature is verified once. Each call still
// checks `exp`, `nbf` and `iat`. By default, nothing is cached. It cannot be used with a [RemoteKeySet].
func WithCache(entries int) VerifierOption {
	return verifierOption(func(c *config) { c.set("cache", entries) })
}

// Limits are the limits for a token. For a field that is 0, the default applies:
//   - TokenBytes: the length of the token (2 MiB).
//   - HeaderBytes: the length of the header after base64url decoding (16 KiB).
//   - JSONDepth: the nesting of objects and arrays (32, at most 127).
//   - KeyIDBytes: the length of `kid` (1024).
//   - KeysTried: the number of keys that are tried for a token without `kid` (8).
type Limits struct {
	TokenBytes  int `json:"token_bytes,omitempty"`
	HeaderBytes int `json:"header_bytes,omitempty"`
	JSONDepth   int `json:"json_depth,omitempty"`
	KeyIDBytes  int `json:"key_id_bytes,omitempty"`
	KeysTried   int `json:"keys_tried,omitempty"`
}

// WithLimits sets the limits of a [Verifier], [SignatureVerifier] or [Decrypter]. A [Signer] or [Encrypter] rejects it.
func WithLimits(limits Limits) interface {
	VerifierOption
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("limits", limits) })
}

// WithFooter sets the footer of issued PASETOs. A verifier requires this footer; by default, it accepts any footer.
func WithFooter(footer string) Option {
	return sharedOption(func(c *config) { c.set("footer", footer) })
}

// WithImplicitAssertion sets the implicit assertion of a PASETO: data that is authenticated, but not part of the token.
// Issuer and verifier must pass the same assertion.
func WithImplicitAssertion(assertion string) Option {
	return sharedOption(func(c *config) { c.set("implicit_assertion", assertion) })
}

// WithEncryption issues nested JWTs: signed with the key of the issuer, then encrypted with this key. If the signing
// key is from [NewKeyFromSigner], issue a JWT instead, and encrypt it with [NewEncrypter] and [WithContentType]("JWT").
func WithEncryption(key *Key) IssuerOption {
	return issuerOption(func(c *config) {
		if c.once("encryption") {
			c.encryption = key
		}
		if key == nil || key.handle == nil {
			c.failed = errClosed()
		}
	})
}

// WithDecryption requires nested JWTs and decrypts them with these keys. It cannot be used with a [RemoteKeySet].
func WithDecryption(keys ...*Key) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("decryption") {
			c.decryption = keys
		}
		if len(keys) == 0 {
			c.fail("decryption", "at least one key is required")
		}
	})
}

// WithContentEncryption sets the content encryption algorithm (`enc`). Pass one to create a key for [Direct], an issuer
// or an encrypter; their default is [A256GCM], or the `enc` of the key for [Direct]. A verifier or a decrypter accepts
// only these algorithms; by default, it accepts all.
func WithContentEncryption(encs ...Encryption) interface {
	Option
	KeyOption
	BytesOption
} {
	texts := make([]string, len(encs))
	for at, enc := range encs {
		texts[at] = string(enc)
	}
	return encryptionOption(func(c *config) { c.set("enc", oneOrList(texts)) })
}

// WithClock replaces the system clock, for tests.
func WithClock(clock *Clock) Option {
	return sharedOption(func(c *config) {
		if c.once("clock") {
			c.clock, c.hasClock = clock, true
		}
	})
}

// WithEncoder replaces [encoding/json.Marshal] for claims, for example with encoding/json/v2.
func WithEncoder(encode func(any) ([]byte, error)) IssuerOption {
	return issuerOption(func(c *config) {
		if c.once("encoder") {
			c.encode = encode
		}
	})
}

// WithDecoder replaces [encoding/json.Unmarshal] for claims. The function gets all claims as JSON. The checks of this
// package for exact names, large integers and missing fields do not apply.
func WithDecoder(decode func([]byte, any) error) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("decoder") {
			c.decode = decode
		}
	})
}

// WithNumbers reads numbers into values of type any as [encoding/json.Number] instead of float64, like
// [encoding/json.Decoder.UseNumber].
func WithNumbers() VerifierOption {
	return verifierOption(func(c *config) { c.numbers = true })
}

// WithMissingFields accepts tokens that lack claims for fields of the struct. As with encoding/json, these fields are
// zero.
func WithMissingFields() VerifierOption {
	return verifierOption(func(c *config) { c.partial = true })
}

// Serialization is the serialization of a JWS or a JWE.
type Serialization string

// The serializations of RFC 7515 and RFC 7516.
const (
	Compact   Serialization = "compact"
	Flattened Serialization = "flattened"
	General   Serialization = "general"
)

// WithSerialization sets the serialization of a JWS or a JWE. The default is [Compact].
func WithSerialization(serialization Serialization) BytesOption {
	return bytesOption(func(c *config) { c.set("serialization", string(serialization)) })
}

// WithDetached creates a JWS that does not contain its content (RFC 7515, appendix F). Verify it with
// [SignatureVerifier.VerifyDetached].
func WithDetached() BytesOption { return bytesOption(func(c *config) { c.set("detached", true) }) }

// WithUnencoded signs the content without base64url encoding (RFC 7797, `b64`: false).
func WithUnencoded() BytesOption { return bytesOption(func(c *config) { c.set("unencoded", true) }) }

// WithContentType sets the content type in the header (`cty`).
func WithContentType(cty string) BytesOption {
	return bytesOption(func(c *config) { c.set("cty", cty) })
}

// WithKeyID sets the key id (`kid`).
func WithKeyID(id string) KeyOption { return keyOption(func(c *config) { c.set("kid", id) }) }

// WithAlgorithm sets the algorithm of an imported key without `alg`. If the key names another algorithm, importing it
// fails with [ErrKeyAlgorithmMismatch].
func WithAlgorithm(alg Algorithm) KeyOption {
	return algorithmOption(alg)
}

// WithRSABits sets the size of a generated RSA key. The default is 2048 bits.
func WithRSABits(bits int) KeyOption { return keyOption(func(c *config) { c.set("rsa_bits", bits) }) }

// WithCurve sets the curve of a generated key for ECDH-ES: P-256 (the default), P-384, P-521 or X25519.
func WithCurve(curve string) KeyOption { return keyOption(func(c *config) { c.set("crv", curve) }) }

// WithPassword sets the password of an encrypted PKCS#8 key or PASERK, for [ParseKey].
func WithPassword(password string) KeyOption {
	return keyOption(func(c *config) { c.set("password", password) })
}

// WithDefaultAlgorithm sets the algorithm of keys without `alg` in a key set.
func WithDefaultAlgorithm(alg Algorithm) interface {
	KeySetOption
	RemoteOption
} {
	return anyKeySetOption(func(c *config) { c.set("default_alg", string(alg)) })
}

// WithPublishedKeys is for a key set that another party publishes. It skips private keys and secrets, which everyone
// can read in such a set.
func WithPublishedKeys() KeySetOption {
	return keySetOption(func(c *config) { c.set("published", true) })
}
