package jeton

import (
	"crypto"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Key is a private key, a public key or a secret, with its algorithm and key id. The key material stays in memory of
// the native library. Only the methods whose names begin with Insecure return private keys and secrets. A key is safe
// for concurrent use.
type Key struct {
	handle *core.Handle
	alg    Algorithm
	kind   string
	// Signs instead of the native library: see [NewKeyFromSigner].
	signer crypto.Signer
}

func keyOptionsOf(format string, options []KeyOption) ([]byte, error) {
	if format == "" && len(options) == 0 {
		return nil, nil
	}
	if format == "" && len(options) == 1 {
		if alg, ok := options[0].(algorithmOption); ok && alg.isPlain() {
			return []byte(`{"alg":"` + string(alg) + `"}`), nil
		}
	}
	chosen := newConfig()
	if format != "" {
		chosen.set("format", format)
	}
	for _, option := range options {
		if option != nil {
			option.forKey(chosen)
		}
	}
	return chosen.text()
}

// algorithmOption sets the algorithm. As the only option, it skips the JSON encoder, which takes longer than the rest
// of the call.
type algorithmOption Algorithm

func (alg algorithmOption) forKey(c *config) { c.set("alg", string(alg)) }

// isPlain reports whether the text needs no escapes in JSON.
func (alg algorithmOption) isPlain() bool {
	for _, char := range []byte(alg) {
		switch {
		case '0' <= char && char <= '9', 'A' <= char && char <= 'Z', 'a' <= char && char <= 'z', char == '-', char == '+', char == '.':
		default:
			return false
		}
	}
	return true
}

// GenerateKey generates a private key or a secret for an algorithm. [Direct] needs [WithContentEncryption].
func GenerateKey(alg Algorithm, options ...KeyOption) (*Key, error) {
	text, err := keyOptionsOf("", options)
	if err != nil {
		return nil, err
	}
	return keyOf(core.GenerateKey(string(alg), string(text)))
}

// ParseKey imports a JWK, PEM, DER or PASERK. It detects the format. PEM and DER keys, and JWKs without `alg`, need
// [WithAlgorithm] if more than one algorithm is possible. For a JWK Set use [ParseKeySet], for a certificate
// [ParseCertificate].
func ParseKey(data []byte, options ...KeyOption) (*Key, error) {
	return importKey(data, "", options)
}

// NewSecret imports the bytes of a secret for a symmetric algorithm, such as [HS256], [A256KW], [Direct] or [V4Local].
// A secret shorter than the hash of its HMAC algorithm is [ErrKeyTooWeak].
func NewSecret(alg Algorithm, secret []byte, options ...KeyOption) (*Key, error) {
	return importKey(secret, "secret", append([]KeyOption{WithAlgorithm(alg)}, options...))
}

// ParseSecret is [NewSecret] for a secret that is encoded in base64 or base64url.
func ParseSecret(alg Algorithm, base64 string, options ...KeyOption) (*Key, error) {
	return importKey([]byte(base64), "secret-base64", append([]KeyOption{WithAlgorithm(alg)}, options...))
}

// ParseCertificate imports the public key of an X.509 certificate in PEM or DER. It does not verify the certificate or
// its chain.
func ParseCertificate(data []byte, options ...KeyOption) (*Key, error) {
	return importKey(data, "certificate", options)
}

func importKey(data []byte, format string, options []KeyOption) (*Key, error) {
	text, err := keyOptionsOf(format, options)
	if err != nil {
		return nil, err
	}
	// The options may contain a password.
	defer clear(text)
	return keyOf(core.ImportKey(data, text))
}

func keyOf(handle *core.Handle, why core.Failure) (*Key, error) {
	if why.Code != 0 {
		return nil, failed(why)
	}
	described, why := core.ExportKey(handle, "alg-kind")
	if why.Code != 0 {
		return nil, failed(why)
	}
	alg, kind, _ := strings.Cut(string(described), " ")
	key := &Key{handle: handle, alg: Algorithm(alg), kind: kind}
	core.Own(key, handle)
	return key, nil
}

// Public returns the public key of a private or public key. For a symmetric key, it returns nil, which [NewVerifier]
// rejects. Use [Key.PublicKey] to get an error instead.
func (k *Key) Public() *Key {
	public, err := k.PublicKey()
	if err != nil {
		return nil
	}
	return public
}

// PublicKey is [Key.Public], but returns an error for a symmetric key.
func (k *Key) PublicKey() (*Key, error) {
	if k == nil {
		return nil, unusable("key")
	}
	defer runtime.KeepAlive(k)
	return keyOf(core.PublicKey(k.handle))
}

// Algorithm returns the algorithm, or "" for a nil key.
func (k *Key) Algorithm() Algorithm {
	if k == nil {
		return ""
	}
	return k.alg
}

// ID returns the id (`kid`), or "" if the key has no id. The id of a PASETO key is its PASERK id.
func (k *Key) ID() string {
	text, err := k.export("kid")
	if err != nil {
		return ""
	}
	return string(text)
}

// IsPrivate reports whether the key is a private key or a symmetric key. It is false for a key of [NewKeyFromSigner],
// which holds only the public key.
func (k *Key) IsPrivate() bool { return k != nil && k.kind != "public" }

// Thumbprint returns the SHA-256 thumbprint (RFC 7638).
func (k *Key) Thumbprint() (string, error) {
	text, err := k.export("thumbprint")
	return string(text), err
}

// ThumbprintURI returns the thumbprint as a URI (RFC 9278).
func (k *Key) ThumbprintURI() (string, error) {
	text, err := k.export("thumbprint-uri")
	return string(text), err
}

// JWK returns the public key as a JWK. It fails for a symmetric key.
func (k *Key) JWK() ([]byte, error) { return k.export("jwk") }

// PEM returns the public key in PEM (SPKI).
func (k *Key) PEM() ([]byte, error) { return k.export("pem") }

// DER returns the public key in DER (SPKI).
func (k *Key) DER() ([]byte, error) { return k.export("der") }

// PASERK returns the public PASETO key as a PASERK.
func (k *Key) PASERK() (string, error) {
	text, err := k.export("paserk")
	return string(text), err
}

// InsecureJWK returns a private or symmetric key as a JWK. The result is in Go memory, which [Key.Close] does not wipe.
func (k *Key) InsecureJWK() ([]byte, error) { return k.export("insecure-jwk") }

// InsecurePEM returns a private key in PEM (PKCS#8). See [Key.InsecureJWK].
func (k *Key) InsecurePEM() ([]byte, error) { return k.export("insecure-pem") }

// InsecureDER returns a private key in DER (PKCS#8). See [Key.InsecureJWK].
func (k *Key) InsecureDER() ([]byte, error) { return k.export("insecure-der") }

// InsecurePASERK returns a private or symmetric PASETO key as a PASERK. See [Key.InsecureJWK].
func (k *Key) InsecurePASERK() ([]byte, error) { return k.export("insecure-paserk") }

func (k *Key) export(what string) ([]byte, error) {
	if k == nil {
		return nil, unusable("key")
	}
	defer runtime.KeepAlive(k)
	text, why := core.ExportKey(k.handle, what)
	return text, failed(why)
}

// WarmUp creates one signature and discards it, because the first signature of a process takes tens of milliseconds.
// Creating the first private key already does this: call WarmUp only after a fork.
func (k *Key) WarmUp() error {
	if k == nil {
		return unusable("key")
	}
	defer runtime.KeepAlive(k)
	return failed(core.WarmUp(k.handle))
}

// Close wipes the key when no call uses it. Issuers and verifiers that were created with it keep working. A second call
// does nothing.
func (k *Key) Close() error {
	if k != nil {
		k.handle.Close()
	}
	return nil
}

// String returns the algorithm and the kind of the key, without key material.
func (k *Key) String() string {
	if k == nil {
		return "jeton.Key(nil)"
	}
	return fmt.Sprintf("jeton.Key(%s, %s)", k.alg, k.kind)
}

// Format implements [fmt.Formatter]. It writes [Key.String] for every verb, so %+v and %#v do not print key material.
func (k *Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, k.String()) }

// LogValue implements [slog.LogValuer]. It returns [Key.String].
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// verifying returns the key as the keys of a verifier.
func (k *Key) verifying() (source, error) {
	if k == nil {
		return source{}, failure(CodeArgumentHandle, "the key is nil: Key.Public returns nil for a symmetric key")
	}
	if k.handle == nil {
		return source{}, unusable("key")
	}
	return source{key: k.handle, isPaseto: k.alg.isPaseto(), isEncryption: k.alg == Direct, keepsAlive: k}, nil
}
