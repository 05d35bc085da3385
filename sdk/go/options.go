package jeton

import "time"

// WithIssuer sets `iss` of issued tokens, and requires it in verified tokens.
func WithIssuer(issuer string) Option {
	return sharedOption(func(c *config) { c.set("issuer", issuer) })
}

// WithIssuers accepts tokens of any of these issuers. Each key of the verifier is then valid for all of them.
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

// WithLifetime sets the lifetime of tokens (`exp`).
func WithLifetime(lifetime time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("lifetime", lifetime) })
}

// WithoutExpiry issues and accepts tokens without `exp`.
func WithoutExpiry() Option {
	return sharedOption(func(c *config) { c.set("without_expiry", true) })
}

// WithIssuedAgo sets `iat` to this long before now, for verifiers with a slow clock.
func WithIssuedAgo(ago time.Duration) IssuerOption {
	return issuerOption(func(c *config) { c.seconds("issued_ago", ago) })
}

// WithAccessTokens issues or requires access tokens (RFC 9068): the type `at+jwt` and its required claims.
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

// WithRequired requires registered or custom claims. Several calls add up.
func WithRequired(names ...string) VerifierOption {
	return verifierOption(func(c *config) { c.add("required", names) })
}

// WithLeeway sets the allowed clock difference between issuer and verifier. The default is 0.
func WithLeeway(leeway time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("leeway", leeway) })
}

// WithMaxAge rejects tokens whose `iat` is older than this.
func WithMaxAge(age time.Duration) VerifierOption {
	return verifierOption(func(c *config) { c.seconds("max_age", age) })
}

// WithCache caches up to this number of verified tokens, so that each signature is verified once. Each call still
// checks the times. The default is no cache.
func WithCache(entries int) VerifierOption {
	return verifierOption(func(c *config) { c.set("cache", entries) })
}

// Limits are limits for tokens. Zero is the default of the library.
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

// WithImplicitAssertion sets the implicit assertion of a PASETO, which is authenticated but not part of the token.
func WithImplicitAssertion(assertion string) Option {
	return sharedOption(func(c *config) { c.set("implicit_assertion", assertion) })
}

// WithEncryption issues nested JWTs: signed, then encrypted to this key. It does not support keys of
// [NewKeyFromSigner]: issue the JWT, and encrypt it with [NewEncrypter] and [WithContentType]("JWT").
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
			c.fail("decryption", "at least one key is required")
		}
	})
}

// WithContentEncryption sets the content encryption (`enc`) of a key for [Direct] or of tokens. A verifier accepts only
// the named ones.
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

// WithEncoder replaces encoding/json for writing claims, for example with json/v2.
func WithEncoder(encode func(any) ([]byte, error)) IssuerOption {
	return issuerOption(func(c *config) {
		if c.once("encoder") {
			c.encode = encode
		}
	})
}

// WithDecoder replaces encoding/json for reading claims. The function gets the whole text of the claims. It is
// responsible for exact names and large numbers.
func WithDecoder(decode func([]byte, any) error) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("decoder") {
			c.decode = decode
		}
	})
}

// WithNumbers reads numbers in values of type any as [encoding/json.Number] instead of float64.
func WithNumbers() VerifierOption {
	return verifierOption(func(c *config) { c.numbers = true })
}

// WithMissingFields accepts tokens without claims that the type declares. Like with encoding/json, the fields are then
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

// WithDetached creates a JWS without its content.
func WithDetached() BytesOption { return bytesOption(func(c *config) { c.set("detached", true) }) }

// WithUnencoded signs the content without base64url (RFC 7797).
func WithUnencoded() BytesOption { return bytesOption(func(c *config) { c.set("unencoded", true) }) }

// WithContentType sets the content type in the header (`cty`).
func WithContentType(cty string) BytesOption {
	return bytesOption(func(c *config) { c.set("cty", cty) })
}

// WithKeyID sets the key id (`kid`).
func WithKeyID(id string) KeyOption { return keyOption(func(c *config) { c.set("kid", id) }) }

// WithAlgorithm sets the algorithm of an imported key that does not name one.
func WithAlgorithm(alg Algorithm) KeyOption {
	return algorithmOption(alg)
}

// WithRSABits sets the size of a generated RSA key. The default is 2048 bits.
func WithRSABits(bits int) KeyOption { return keyOption(func(c *config) { c.set("rsa_bits", bits) }) }

// WithCurve sets the curve of a generated key for ECDH-ES: P-256 (the default), P-384, P-521 or X25519.
func WithCurve(curve string) KeyOption { return keyOption(func(c *config) { c.set("crv", curve) }) }

// WithPassword decrypts a PKCS#8 key or a PASERK.
func WithPassword(password string) KeyOption {
	return keyOption(func(c *config) { c.set("password", password) })
}

// WithDefaultAlgorithm sets the algorithm of keys in a set that do not name one.
func WithDefaultAlgorithm(alg Algorithm) interface {
	KeySetOption
	RemoteOption
} {
	return anyKeySetOption(func(c *config) { c.set("default_alg", string(alg)) })
}

// WithPublishedKeys skips secret and private keys, which a published set must not have.
func WithPublishedKeys() KeySetOption {
	return keySetOption(func(c *config) { c.set("published", true) })
}
