package conformance

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jeton/harness"
)

// key is a key as the lab would send it. A symmetric key has no public half.
type key struct {
	private, public       object
	privatePEM, publicPEM string
	paserk                map[string]string
	local                 bool // whether the PASETO format uses a symmetric key
}

// made caches pairs by kind and number: RSA keys are slow to generate, and any key will do.
var made = map[string]key{}

func newKey(t *testing.T, offer harness.Offer, number int) key {
	if offer.Alg == nil {
		return paserkOf(t, offer.Format)
	}
	alg := *offer.Alg
	if alg == "dir" || strings.HasPrefix(alg, "HS") || strings.HasPrefix(alg, "A") {
		secret := make([]byte, secretBytes(offer))
		_, _ = rand.Read(secret) // never fails
		return key{private: object{"kty": "oct", "k": encoded(string(secret)), "alg": alg}}
	}
	kind := alg
	if alg[1] == 'S' && alg[0] != 'E' {
		kind = "RSA"
	}
	kind += strconv.Itoa(number)
	if _, ok := made[kind]; !ok {
		made[kind] = pair(t, alg)
	}
	return made[kind]
}

// sent returns the member `keys` for an operation.
func (k key) sent(operation string) object {
	if k.paserk != nil {
		sent := map[string]string{"local": k.paserk["local"], "public": k.paserk["public"]}
		if operation != harness.OperationVerify {
			sent["secret"] = k.paserk["secret"]
		}
		return object{"private": nil, "public": nil, "paserk": sent}
	}
	sent := object{"private": k.private, "public": k.public, "paserk": nil}
	opens := []string{
		harness.OperationVerify, harness.OperationVerifySignature, harness.OperationVerifyParsed,
		harness.OperationEncrypt,
	}
	if k.public != nil && slices.Contains(opens, operation) {
		sent["private"] = nil
	}
	if operation == harness.OperationDecrypt {
		sent["public"] = nil
	}
	return sent
}

// text returns the key in one form.
func (k key) text(form string) object {
	if form == harness.FormPEM {
		return object{"form": form, "private": k.privatePEM, "public": k.publicPEM}
	}
	text := object{"form": form, "public": nil}
	if form == harness.FormHex {
		return k.hex()
	}
	if form == harness.FormPaserk {
		if k.local {
			return object{"form": form, "private": k.paserk["local"], "public": nil}
		}
		return object{"form": form, "private": k.paserk["secret"], "public": k.paserk["public"]}
	}
	private, _ := json.Marshal(k.private)
	text["private"] = string(private)
	if k.public != nil {
		public, _ := json.Marshal(k.public)
		text["public"] = string(public)
	}
	return text
}

// hex returns a PASETO key in hexadecimal: its secret and public half, or the symmetric key.
func (k key) hex() object {
	bytes := func(kind string) string {
		_, text, _ := strings.Cut(strings.TrimPrefix(k.paserk[kind], "k"), "."+kind+".")
		raw, _ := base64.RawURLEncoding.DecodeString(text)
		return hex.EncodeToString(raw)
	}
	if k.local {
		return object{"form": harness.FormHex, "private": bytes("local"), "public": nil}
	}
	return object{"form": harness.FormHex, "private": bytes("secret"), "public": bytes("public")}
}

func secretBytes(offer harness.Offer) int {
	name := *offer.Alg
	if name == "dir" {
		name = *offer.Enc
	}
	digits := strings.TrimLeft(name, "HSA")[:3]
	bits, _ := strconv.Atoi(digits)
	if strings.Contains(name, "CBC") {
		bits *= 2
	}
	return bits / 8
}

func pair(t *testing.T, alg string) key {
	switch {
	case alg == "ES256K", strings.HasPrefix(alg, "ML-DSA"):
		// `lab attack` and `lab interop` cover these types, with keys that the lab makes.
		t.Skip("the standard library makes no keys of this type")
	case alg == "EdDSA", alg == "Ed25519":
		public, private, err := ed25519.GenerateKey(rand.Reader)
		require(t, err)
		return keyOf(t, object{"kty": "OKP", "crv": "Ed25519", "x": encoded(string(public))},
			object{"d": encoded(string(private.Seed()))}, private, public)
	case alg[0] == 'E':
		curve := map[string]elliptic.Curve{"ES384": elliptic.P384(), "ES512": elliptic.P521()}[alg]
		if curve == nil {
			curve = elliptic.P256()
		}
		private, err := ecdsa.GenerateKey(curve, rand.Reader)
		require(t, err)
		point, err := private.PublicKey.Bytes()
		require(t, err)
		scalar, err := private.Bytes()
		require(t, err)
		half := len(point) / 2
		return keyOf(t, object{
			"kty": "EC", "crv": curve.Params().Name,
			"x": encoded(string(point[1 : 1+half])), "y": encoded(string(point[1+half:])),
		}, object{"d": encoded(string(scalar))}, private, &private.PublicKey)
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require(t, err)
	number := func(n *big.Int) string { return encoded(string(n.Bytes())) }
	return keyOf(t, object{"kty": "RSA", "n": number(private.N), "e": "AQAB"}, object{
		"d": number(private.D), "p": number(private.Primes[0]), "q": number(private.Primes[1]),
		"dp": number(private.Precomputed.Dp), "dq": number(private.Precomputed.Dq),
		"qi": number(private.Precomputed.Qinv),
	}, private, &private.PublicKey)
}

func keyOf(t *testing.T, public, secret object, private, open any) key {
	for member, value := range public {
		secret[member] = value
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require(t, err)
	spki, err := x509.MarshalPKIXPublicKey(open)
	require(t, err)
	text := func(label string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}))
	}
	return key{
		private: secret, public: public,
		privatePEM: text("PRIVATE KEY", pkcs8), publicPEM: text("PUBLIC KEY", spki),
	}
}

func paserkOf(t *testing.T, format string) key {
	version := "k" + format[1:2]
	local := make([]byte, 32)
	_, _ = rand.Read(local) // never fails
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require(t, err)
	secretBytes, publicBytes := []byte(private), []byte(public)
	if version == "k3" {
		private, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		require(t, err)
		secretBytes, err = private.Bytes()
		require(t, err)
		publicBytes = elliptic.MarshalCompressed(private.Curve, private.X, private.Y)
	}
	return key{local: strings.HasSuffix(format, ".local"), paserk: map[string]string{
		"local":  version + ".local." + encoded(string(local)),
		"secret": version + ".secret." + encoded(string(secretBytes)),
		"public": version + ".public." + encoded(string(publicBytes)),
	}}
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
