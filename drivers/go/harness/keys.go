package harness

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
	"strings"
)

// Key returns the function that an operation calls for its key. For `prepared` the key is loaded
// once. For `parsed-per-call` every call loads it from its text.
func Key[K any](p *Prepare, load func() (K, error)) (func() (K, error), error) {
	key, err := load()
	if err != nil {
		return nil, err
	}
	if p.KeyHandling == ParsedPerCall {
		return load, nil
	}
	return func() (K, error) { return key, nil }, nil
}

// PrivateKey parses the JWK for signing: []byte, *rsa.PrivateKey, *ecdsa.PrivateKey or
// ed25519.PrivateKey.
func (p *Prepare) PrivateKey() (any, error) {
	if isNull(p.Keys.Private) {
		return nil, invalid("the private key is missing")
	}
	return parsePrivateJWK(p.Keys.Private)
}

// PublicKey parses the JWK for verification: []byte, *rsa.PublicKey, *ecdsa.PublicKey or
// ed25519.PublicKey. A symmetric key comes from `private`, as the protocol sends it.
func (p *Prepare) PublicKey() (any, error) {
	if !isNull(p.Keys.Public) {
		return parsePublicJWK(p.Keys.Public)
	}
	key, err := p.PrivateKey()
	if secret, ok := key.([]byte); ok && err == nil {
		return secret, nil
	}
	return nil, invalid("the public key is missing")
}

// PrivateJWK returns the text of the JWK that signs or decrypts, for a library that reads JWKs.
func (p *Prepare) PrivateJWK() ([]byte, error) {
	if isNull(p.Keys.Private) {
		return nil, invalid("the private key is missing")
	}
	return p.Keys.Private, nil
}

// PublicJWK returns the text of the JWK that verifies or encrypts. A symmetric key comes from
// `private`, as the protocol sends it.
func (p *Prepare) PublicJWK() ([]byte, error) {
	if isNull(p.Keys.Public) {
		return p.PrivateJWK()
	}
	return p.Keys.Public, nil
}

// PaserkBytes returns the raw key of a PASERK such as `k4.local.…` for the version of the prepared
// format. The kind is `local`, `secret` or `public`.
func (p *Prepare) PaserkBytes(kind string) ([]byte, error) {
	version, _, _ := strings.Cut(strings.TrimPrefix(p.Format, "v"), ".")
	header := "k" + version + "." + kind + "."
	text, ok := strings.CutPrefix(p.Keys.Paserk[kind], header)
	if !ok {
		return nil, invalid("the PASERK %s is missing", header)
	}
	raw, err := base64URL.DecodeString(text)
	if err != nil {
		return nil, invalid("the PASERK %s is not base64url", header)
	}
	return raw, nil
}

var base64URL = base64.RawURLEncoding.Strict()

type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	K   member `json:"k"`
	N   member `json:"n"`
	E   member `json:"e"`
	D   member `json:"d"`
	P   member `json:"p"`
	Q   member `json:"q"`
	X   member `json:"x"`
	Y   member `json:"y"`
}

// member is a base64url member of a JWK.
type member []byte

func (m *member) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	raw, err := base64URL.DecodeString(text)
	*m = raw
	return err
}

func (m member) number() *big.Int { return new(big.Int).SetBytes(m) }

func parsePrivateJWK(text []byte) (any, error) {
	key, err := parseJWK(text)
	if err != nil {
		return nil, err
	}
	switch key.Kty {
	case "oct":
		return []byte(key.K), nil
	case "RSA":
		return key.rsaPrivate()
	case "EC":
		return key.ecPrivate()
	case "OKP":
		public, err := key.ed25519Public()
		if err != nil {
			return nil, err
		}
		if len(key.D) != ed25519.SeedSize {
			return nil, invalid("the JWK member d does not have 32 bytes")
		}
		private := ed25519.NewKeyFromSeed(key.D)
		if !public.Equal(private.Public()) {
			return nil, invalid("the JWK members d and x are not a pair")
		}
		return private, nil
	}
	return nil, invalid("the JWK has an unknown kty")
}

func parsePublicJWK(text []byte) (any, error) {
	key, err := parseJWK(text)
	if err != nil {
		return nil, err
	}
	switch key.Kty {
	case "oct":
		return []byte(key.K), nil
	case "RSA":
		return key.rsaPublic()
	case "EC":
		return key.ecPublic()
	case "OKP":
		return key.ed25519Public()
	}
	return nil, invalid("the JWK has an unknown kty")
}

func parseJWK(text []byte) (*jwk, error) {
	var key jwk
	if json.Unmarshal(text, &key) != nil {
		return nil, invalid("the key is not a JWK") // without the cause, which may quote the key
	}
	return &key, nil
}

func (k *jwk) rsaPublic() (*rsa.PublicKey, error) {
	exponent := k.E.number()
	if len(k.N) == 0 || !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > math.MaxInt32 {
		return nil, invalid("the JWK members n and e are not an RSA key")
	}
	return &rsa.PublicKey{N: k.N.number(), E: int(exponent.Int64())}, nil
}

func (k *jwk) rsaPrivate() (*rsa.PrivateKey, error) {
	public, err := k.rsaPublic()
	if err != nil {
		return nil, err
	}
	if len(k.D) == 0 || len(k.P) == 0 || len(k.Q) == 0 {
		return nil, invalid("the JWK lacks one of the members d, p and q")
	}
	key := &rsa.PrivateKey{
		PublicKey: *public,
		D:         k.D.number(),
		Primes:    []*big.Int{k.P.number(), k.Q.number()},
	}
	key.Precompute()
	if err := key.Validate(); err != nil {
		return nil, invalid("the JWK is not a valid RSA key")
	}
	return key, nil
}

func (k *jwk) curve() (elliptic.Curve, error) {
	switch k.Crv {
	case "P-256":
		return elliptic.P256(), nil
	case "P-384":
		return elliptic.P384(), nil
	case "P-521":
		return elliptic.P521(), nil
	}
	return nil, invalid("the JWK has an unknown crv")
}

func (k *jwk) ecPublic() (*ecdsa.PublicKey, error) {
	curve, err := k.curve()
	if err != nil {
		return nil, err
	}
	size := (curve.Params().BitSize + 7) / 8
	if len(k.X) != size || len(k.Y) != size {
		return nil, invalid("the JWK members x and y do not have the length of the curve")
	}
	point := append([]byte{4}, k.X...)
	key, err := ecdsa.ParseUncompressedPublicKey(curve, append(point, k.Y...))
	if err != nil {
		return nil, invalid("the JWK members x and y are not a point of the curve")
	}
	return key, nil
}

func (k *jwk) ecPrivate() (*ecdsa.PrivateKey, error) {
	public, err := k.ecPublic()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.ParseRawPrivateKey(public.Curve, k.D)
	if err != nil || !key.PublicKey.Equal(public) {
		return nil, invalid("the JWK members d, x and y are not a pair")
	}
	return key, nil
}

func (k *jwk) ed25519Public() (ed25519.PublicKey, error) {
	if k.Crv != "Ed25519" || len(k.X) != ed25519.PublicKeySize {
		return nil, invalid("the JWK is not an Ed25519 key")
	}
	return ed25519.PublicKey(k.X), nil
}

func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }
