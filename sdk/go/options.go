package jeton

import "time"

// WithIssuer sets `iss` of issued tokens, and requires it in verified tokens.
func WithIssuer(issuer string) Option {
	return sharedOption(func(c *config) { c.set("issuer", issuer) })
}

// WithIssuers accepts tokens of these issuers. With several, [WithSharedKeys] is required: every key of the verifier is
// then trusted for every issuer in the list. If issuers have their own keys, use [NewMultiIssuerVerifier].
func WithIssuers(issuers ...string) VerifierOption {
	return verifierOption(func(c *config) { c.set("issuer", list(issuers)) })
}

// WithType sets the header type (`typ`): pass one type to an issuer, a signer or an encrypter. A [Verifier] accepts
// only these types. The default type of an issuer is JWT, and a verifier accepts JWT or a token without `typ`.
func WithType(types ...string) interface {
	Option
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("typ", oneOrList(types)) })
}

// WithHeaders adds these members to the protected header, for example `x5t`, `x5c` or `nonce`. A member that another
// option or the key decides is refused, for example `alg`. A nested JWT has them in its signed header. A verifier
// ignores them.
func WithHeaders(headers map[string]any) interface {
	IssuerOption
	BytesOption
} {
	return tokenOption(func(c *config) { c.set("headers", headers) })
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

// WithClock replaces [time.Now], for tests. The function runs in each call of the issuer or the verifier, in several
// goroutines at once if they are shared. It must not call them. Tests with testing/synctest need no clock.
func WithClock(now func() time.Time) Option {
	return sharedOption(func(c *config) {
		if c.once("WithClock") {
			c.now = now
		}
		if now == nil {
			c.fail("WithClock", "the function is nil")
		}
	})
}

// WithEncoder replaces [encoding/json.Marshal] for claims, for example with encoding/json/v2.
func WithEncoder(encode func(any) ([]byte, error)) IssuerOption {
	return issuerOption(func(c *config) {
		if c.once("WithEncoder") {
			c.encode = encode
		}
	})
}

// WithDecoder replaces [encoding/json.Unmarshal] for claims. The function gets all claims as JSON. The checks of this
// package for exact names, large integers and missing fields do not apply.
func WithDecoder(decode func([]byte, any) error) VerifierOption {
	return verifierOption(func(c *config) {
		if c.once("WithDecoder") {
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

// WithAlgorithm sets the algorithm of an imported key without `alg`. If the key names another algorithm, importing it
// fails with [ErrKeyAlgorithmMismatch].
func WithAlgorithm(alg Algorithm) KeyOption {
	return algorithmOption(alg)
}

// WithDefaultAlgorithm sets the algorithm of keys without `alg` in a key set.
func WithDefaultAlgorithm(alg Algorithm) interface {
	KeySetOption
	RemoteOption
} {
	return anyKeySetOption(func(c *config) { c.set("default_alg", string(alg)) })
}
