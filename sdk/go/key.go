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

// Key is a secret, private or public key with its algorithm and its id. It stays in the native library. Only methods
// that begin with Insecure return its secret part.
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

// GenerateKey generates a secret or a private key.
func GenerateKey(alg Algorithm, options ...KeyOption) (*Key, error) {
	text, err := keyOptionsOf("", options)
	if err != nil {
		return nil, err
	}
	return keyOf(core.GenerateKey(string(alg), string(text)))
}

// ParseKey imports a JWK, PEM, DER or PASERK. It detects the format. A key that does not name its algorithm needs
// [WithAlgorithm].
func ParseKey(data []byte, options ...KeyOption) (*Key, error) {
	return importKey(data, "", options)
}

// NewSecret imports the bytes of a secret for an algorithm: HS256, A256KW, dir, v4.local and others.
func NewSecret(alg Algorithm, secret []byte, options ...KeyOption) (*Key, error) {
	return importKey(secret, "secret", append([]KeyOption{WithAlgorithm(alg)}, options...))
}

// ParseSecret imports a secret in base64 or base64url.
func ParseSecret(alg Algorithm, base64 string, options ...KeyOption) (*Key, error) {
	return importKey([]byte(base64), "secret-base64", append([]KeyOption{WithAlgorithm(alg)}, options...))
}

// ParseCertificate imports the public key of an X.509 certificate in PEM or DER. It does not verify the certificate.
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

// Public returns the public key of a private key, or the key itself if it is public. It returns nil for a symmetric
// key: [NewVerifier] then fails. [Key.PublicKey] returns the error.
func (k *Key) Public() *Key {
	public, err := k.PublicKey()
	if err != nil {
		return nil
	}
	return public
}

// PublicKey is [Key.Public] with an error for a symmetric key.
func (k *Key) PublicKey() (*Key, error) {
	if k == nil {
		return nil, errClosed()
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

// IsPrivate reports whether the key has a secret part: a private or a symmetric key.
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

// InsecureJWK returns the key with its secret part as a JWK. The secret leaves the memory of the native library.
func (k *Key) InsecureJWK() ([]byte, error) { return k.export("insecure-jwk") }

// InsecurePEM returns a private key with its secret part in PEM (PKCS#8).
func (k *Key) InsecurePEM() ([]byte, error) { return k.export("insecure-pem") }

// InsecureDER returns a private key with its secret part in DER (PKCS#8).
func (k *Key) InsecureDER() ([]byte, error) { return k.export("insecure-der") }

// InsecurePASERK returns a PASETO key with its secret part as a PASERK.
func (k *Key) InsecurePASERK() ([]byte, error) { return k.export("insecure-paserk") }

func (k *Key) export(what string) ([]byte, error) {
	if k == nil {
		return nil, errClosed()
	}
	defer runtime.KeepAlive(k)
	text, why := core.ExportKey(k.handle, what)
	return text, failed(why)
}

// WarmUp creates one signature and discards it, because the first signature of a process takes tens of milliseconds.
// Creating the first private key already does this: call WarmUp only after a fork.
func (k *Key) WarmUp() error {
	if k == nil {
		return errClosed()
	}
	defer runtime.KeepAlive(k)
	return failed(core.WarmUp(k.handle))
}

// Close wipes the key after the last call that uses it returns. Issuers and verifiers created with it keep working. A
// second call does nothing.
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

// Format writes [Key.String] for every verb.
func (k *Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, k.String()) }

// LogValue is [Key.String] for log/slog.
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// verifying returns the key as the keys of a verifier.
func (k *Key) verifying() (source, error) {
	if k == nil || k.handle == nil {
		return source{}, errClosed()
	}
	return source{key: k.handle, isPaseto: k.alg.isPaseto(), keepsAlive: k}, nil
}
