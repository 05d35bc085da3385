// Written from the tables of crates/jeton/src/key by `cargo xtask sdk algorithms`. Do not change it here.

package jeton

// Algorithm is the name of an algorithm: a JWA name, or a PASETO version and purpose.
type Algorithm string

// Signature and MAC algorithms.
const (
	HS256   Algorithm = "HS256"
	HS384   Algorithm = "HS384"
	HS512   Algorithm = "HS512"
	RS256   Algorithm = "RS256"
	RS384   Algorithm = "RS384"
	RS512   Algorithm = "RS512"
	PS256   Algorithm = "PS256"
	PS384   Algorithm = "PS384"
	PS512   Algorithm = "PS512"
	ES256   Algorithm = "ES256"
	ES384   Algorithm = "ES384"
	ES512   Algorithm = "ES512"
	ES256K  Algorithm = "ES256K"
	EdDSA   Algorithm = "EdDSA"
	Ed25519 Algorithm = "Ed25519"
	MLDSA44 Algorithm = "ML-DSA-44"
	MLDSA65 Algorithm = "ML-DSA-65"
	MLDSA87 Algorithm = "ML-DSA-87"
)

// Key management algorithms of JWE. [Direct] needs [WithContentEncryption].
const (
	Direct       Algorithm = "dir"
	A128KW       Algorithm = "A128KW"
	A192KW       Algorithm = "A192KW"
	A256KW       Algorithm = "A256KW"
	A128GCMKW    Algorithm = "A128GCMKW"
	A192GCMKW    Algorithm = "A192GCMKW"
	A256GCMKW    Algorithm = "A256GCMKW"
	RSAOAEP      Algorithm = "RSA-OAEP"
	RSAOAEP256   Algorithm = "RSA-OAEP-256"
	RSAOAEP384   Algorithm = "RSA-OAEP-384"
	RSAOAEP512   Algorithm = "RSA-OAEP-512"
	ECDHES       Algorithm = "ECDH-ES"
	ECDHESA128KW Algorithm = "ECDH-ES+A128KW"
	ECDHESA192KW Algorithm = "ECDH-ES+A192KW"
	ECDHESA256KW Algorithm = "ECDH-ES+A256KW"
)

// PASETO versions and purposes.
const (
	V3Local  Algorithm = "v3.local"
	V3Public Algorithm = "v3.public"
	V4Local  Algorithm = "v4.local"
	V4Public Algorithm = "v4.public"
)

// Encryption is the name of a content encryption algorithm (`enc`).
type Encryption string

// Content encryption algorithms.
const (
	A128CBCHS256 Encryption = "A128CBC-HS256"
	A192CBCHS384 Encryption = "A192CBC-HS384"
	A256CBCHS512 Encryption = "A256CBC-HS512"
	A128GCM      Encryption = "A128GCM"
	A192GCM      Encryption = "A192GCM"
	A256GCM      Encryption = "A256GCM"
)

// isPaseto reports whether this is a PASETO algorithm.
func (a Algorithm) isPaseto() bool {
	switch a {
	case V3Local, V3Public, V4Local, V4Public:
		return true
	}
	return false
}
