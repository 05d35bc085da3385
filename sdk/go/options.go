package jeton

import "time"

// WithIssuer sets `iss` of tokens that are issued, and requires it of tokens that are verified.
func WithIssuer(issuer string) Option {
	return sharedOption(func(c *config) { c.set("issuer", issuer) })
}

// WithIssuers accepts tokens of any of these issuers. The keys of the verifier are then those of all of them.
func WithIssuers(issuers ...string) VerifierOption {
	return verifierOption(func(c *config) { c.set("issuer", list(issuers)) })
}

// WithAnyIssuer accepts tokens of any issuer, and without one.
func WithAnyIssuer() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_issuer", true) })
}

// WithAudience sets `aud` of tokens that are issued. A verifier accepts a token for any of these audiences.
func WithAudience(audiences ...string) Option {
	return sharedOption(func(c *config) { c.set("audience", oneOrList(audiences)) })
}

// WithAnyAudience accepts tokens for any audience, and without one.
func WithAnyAudience() VerifierOption {
	return verifierOption(func(c *config) { c.set("any_audience", true) })
}

// WithLifetime sets how long tokens are valid: `exp`.
func WithLifetime(lifetime time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("lifetime", lifetime) })
}

// WithoutExpiry issues and accepts tokens without `exp`.
func WithoutExpiry() Option {
	return sharedOption(func(c *config) { c.set("without_expiry", true) })
}

// WithIssuedAgo sets `iat` to a moment before now, for verifiers whose clock is behind.
func WithIssuedAgo(ago time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("issued_ago", ago) })
}

// WithAccessTokens is for access tokens of RFC 9068: the type `at+jwt` and the claims that it requires.
func WithAccessTokens() Option {
	return sharedOption(func(c *config) { c.set("access_tokens", true) })
}

// WithType sets the type in the header (`typ`), or requires it.
func WithType(types ...string) interface {
	Option
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("typ", oneOrList(types)) })
}

// WithRequired requires claims: of RFC 7519, or others. Several calls require the claims of all.
func WithRequired(names ...string) VerifierOption {
	return verifierOption(func(c *config) { c.add("required", names) })
}

// WithLeeway sets how far the clocks of issuer and verifier may differ. The default is 0.
func WithLeeway(leeway time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("leeway", leeway) })
}

// WithMaxAge rejects tokens whose `iat` is longer ago.
func WithMaxAge(age time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("max_age", age) })
}

// WithCache remembers this number of verified tokens, so that each signature is verified once. Off by default. Times are
// checked for each call.
func WithCache(entries int) VerifierOption {
	return verifierOption(func(c *config) { c.set("cache", entries) })
}

// Limits bound what a verifier reads. A zero is the default of the library.
type Limits struct {
	TokenBytes  int `json:"token_bytes,omitempty"`
	HeaderBytes int `json:"header_bytes,omitempty"`
	JSONDepth   int `json:"json_depth,omitempty"`
	KeyIDBytes  int `json:"key_id_bytes,omitempty"`
	KeysTried   int `json:"keys_tried,omitempty"`
}

// WithLimits sets the limits of a verifier or a decrypter.
func WithLimits(limits Limits) interface {
	VerifierOption
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("limits", limits) })
}

// WithFooter sets the footer of a PASETO, or requires it.
func WithFooter(footer string) Option {
	return sharedOption(func(c *config) { c.set("footer", footer) })
}

// WithImplicitAssertion sets the implicit assertion of a PASETO, which is authenticated and not in the token.
func WithImplicitAssertion(assertion string) Option {
	return sharedOption(func(c *config) { c.set("implicit_assertion", assertion) })
}

// WithEncryption encrypts signed JWTs to this key: nested JWTs. With a key of [NewKeyFromSigner], issue the JWT and encrypt it
// with [NewEncrypter] and [WithContentType]("JWT").
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

// WithDecryption requires nested JWTs and decrypts them with these keys.
func WithDecryption(keys ...*Key) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("decryption") {
			c.decryption = keys
		}
		if len(keys) == 0 {
			c.fail("option `decryption`: no key")
		}
	})
}

// WithContentEncryption sets the content encryption (`enc`) of a key for [Direct] or of tokens. A verifier accepts only
// those that are named.
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

// WithClock sets the clock, for tests.
func WithClock(clock *Clock) Option {
	return sharedOption(func(c *config) {
		if c.once("clock") {
			c.clock, c.hasClock = clock, true
		}
	})
}

// WithEncoder writes claims with another function than encoding/json, for example that of json/v2.
func WithEncoder(encode func(any) ([]byte, error)) IssuerOption {
	return issuerOption(func(c *config) {
		if c.once("encoder") {
			c.encode = encode
		}
	})
}

// WithDecoder reads claims with another function than encoding/json. It gets the whole text of the claims. Names of
// members and large numbers are then its affair.
func WithDecoder(decode func([]byte, any) error) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("decoder") {
			c.decode = decode
		}
	})
}

// WithNumbers reads numbers in values of the type any as [encoding/json.Number] instead of float64.
func WithNumbers() VerifierOption {
	return verifierOption(func(c *config) { c.numbers = true })
}

// WithMissingFields accepts tokens without claims that the type declares, as encoding/json does: the fields are then zero.
func WithMissingFields() VerifierOption {
	return verifierOption(func(c *config) { c.partial = true })
}

// Serialization is how a JWS or a JWE is written.
type Serialization string

// The serializations of RFC 7515 and RFC 7516.
const (
	Compact   Serialization = "compact"
	Flattened Serialization = "flattened"
	General   Serialization = "general"
)

// WithSerialization sets how a JWS or a JWE is written. The default is [Compact].
func WithSerialization(serialization Serialization) BytesOption {
	return bytesOption(func(c *config) { c.set("serialization", string(serialization)) })
}

// WithDetached makes JWS without their content.
func WithDetached() BytesOption { return bytesOption(func(c *config) { c.set("detached", true) }) }

// WithUnencoded signs the content without base64url (RFC 7797).
func WithUnencoded() BytesOption { return bytesOption(func(c *config) { c.set("unencoded", true) }) }

// WithContentType sets the type of the content in the header (`cty`).
func WithContentType(cty string) BytesOption {
	return bytesOption(func(c *config) { c.set("cty", cty) })
}

// WithKeyID sets the id (`kid`).
func WithKeyID(id string) KeyOption { return keyOption(func(c *config) { c.set("kid", id) }) }

// WithAlgorithm sets the algorithm of an imported key that does not state it.
func WithAlgorithm(alg Algorithm) KeyOption {
	return algorithmOption(alg)
}

// WithRSABits sets the size of a generated RSA key. The default is 2048 bits.
func WithRSABits(bits int) KeyOption { return keyOption(func(c *config) { c.set("rsa_bits", bits) }) }

// WithCurve sets the curve of a generated key for ECDH-ES: P-256 (the default), P-384, P-521 or X25519.
func WithCurve(curve string) KeyOption { return keyOption(func(c *config) { c.set("crv", curve) }) }

// WithPassword decrypts PKCS#8 or a PASERK.
func WithPassword(password string) KeyOption {
	return keyOption(func(c *config) { c.set("password", password) })
}

// WithDefaultAlgorithm sets the algorithm of keys in a set that do not state theirs.
func WithDefaultAlgorithm(alg Algorithm) interface {
	KeySetOption
	RemoteOption
} {
	return anyKeySetOption(func(c *config) { c.set("default_alg", string(alg)) })
}

// WithPublishedKeys skips secret and private keys, which a set that others can read must not have.
func WithPublishedKeys() KeySetOption {
	return keySetOption(func(c *config) { c.set("published", true) })
}
