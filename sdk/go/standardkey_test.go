package jeton_test

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// comparable keys have Equal, like all public keys of the standard library.
type comparable interface{ Equal(crypto.PublicKey) bool }

func TestKeysOfTheStandardLibrary(t *testing.T) {
	for alg, signer := range signers() {
		t.Run(string(alg), func(t *testing.T) {
			private := must(jeton.NewKey(signer, jeton.WithAlgorithm(alg), jeton.WithKeyID("k1")))
			public := must(jeton.NewKey(signer.Public(), jeton.WithAlgorithm(alg), jeton.WithKeyID("k1")))
			if !private.IsPrivate() || public.IsPrivate() || private.ID() != "k1" || public.ID() != "k1" {
				t.Errorf("found %s and %s", private, public)
			}
			issuer, _ := pair(private)
			_, verifier := pair(public)
			if must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{})))).Algorithm() != alg {
				t.Error("another algorithm")
			}
			for _, key := range []*jeton.Key{private, public} {
				if !must(key.CryptoPublicKey()).(comparable).Equal(signer.Public()) {
					t.Error("another public key")
				}
			}
		})
	}
	for name, curve := range map[string]ecdh.Curve{"X25519": ecdh.X25519(), "P-256": ecdh.P256()} {
		private := must(curve.GenerateKey(rand.Reader))
		decrypter := must(jeton.NewDecrypter(must(jeton.NewKey(private, jeton.WithAlgorithm(jeton.ECDHES)))))
		encrypter := must(jeton.NewEncrypter(must(jeton.NewKey(private.Public(), jeton.WithAlgorithm(jeton.ECDHES)))))
		if found := must(decrypter.Decrypt(must(encrypter.Encrypt([]byte("text"))))); string(found) != "text" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func TestCertificateOfTheStandardLibrary(t *testing.T) {
	signer := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate := must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer))))
	key := must(jeton.NewKey(certificate, jeton.WithAlgorithm(jeton.ES256)))
	if key.IsPrivate() || !must(key.CryptoPublicKey()).(comparable).Equal(signer.Public()) {
		t.Errorf("found %s", key)
	}
}

func TestKeysOfTheStandardLibraryThatAreNotAccepted(t *testing.T) {
	signer := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	es256, rs256 := jeton.WithAlgorithm(jeton.ES256), jeton.WithAlgorithm(jeton.RS256)
	secret := []byte(secretText)
	for name, one := range map[string]struct {
		err  error
		code jeton.Code
		text string
	}{
		"nil":             {second(jeton.NewKey(nil)), jeton.CodeArgumentNull, "the key is nil"},
		"typed nil":       {second(jeton.NewKey((*rsa.PrivateKey)(nil), rs256)), jeton.CodeKeyInvalid, "*rsa.PrivateKey"},
		"zero key":        {second(jeton.NewKey(new(ecdsa.PrivateKey), es256)), jeton.CodeKeyInvalid, "*ecdsa.PrivateKey"},
		"zero public key": {second(jeton.NewKey(new(rsa.PublicKey), rs256)), jeton.CodeKeyInvalid, "*rsa.PublicKey"},
		"nil certificate": {second(jeton.NewKey((*x509.Certificate)(nil), rs256)), jeton.CodeKeyInvalid, "*x509.Certificate"},
		"no certificate":  {second(jeton.NewKey(new(x509.Certificate), rs256)), jeton.CodeKeyInvalid, "*x509.Certificate"},
		"short Ed25519":   {second(jeton.NewKey(ed[:7], jeton.WithAlgorithm(jeton.EdDSA))), jeton.CodeKeyInvalid, "ed25519.PrivateKey"},
		"short public":    {second(jeton.NewKey(ed25519.PublicKey("short"), jeton.WithAlgorithm(jeton.EdDSA))), 0, ""},
		"a value":         {second(jeton.NewKey(signer.PublicKey, es256)), jeton.CodeKeyUnsupported, "the type ecdsa.PublicKey is not supported"},
		"another type":    {second(jeton.NewKey(&visit{}, es256)), jeton.CodeKeyUnsupported, "*jeton_test.visit"},
		"an HSM":          {second(jeton.NewKey(hsm{Signer: signer}, es256)), jeton.CodeKeyUnsupported, "NewKeyFromSigner"},
		"bytes":           {second(jeton.NewKey(secret, jeton.WithAlgorithm(jeton.HS256))), jeton.CodeKeyUnsupported, "NewSecret"},
		"no algorithm":    {second(jeton.NewKey(must(rsa.GenerateKey(rand.Reader, 2048)))), jeton.CodeKeyAlgorithmNeeded, "WithAlgorithm"},
		"another":         {second(jeton.NewKey(signer, rs256)), 0, ""},
		"P-224":           {second(jeton.NewKey(must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader)), es256)), 0, ""},
		"secret out":      {second(secretKey().CryptoPublicKey()), 0, "symmetric"},
		"ES256K out":      {second(must(jeton.GenerateKey(jeton.ES256K)).CryptoPublicKey()), jeton.CodeKeyUnsupported, "ES256K"},
		"PASETO out":      {second(must(jeton.GenerateKey(jeton.V4Public)).CryptoPublicKey()), 0, "PASERK"},
	} {
		if one.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		code := jeton.CodeOf(one.err)
		if code == 0 || one.code != 0 && code != one.code || code == jeton.CodeInternal || !strings.Contains(one.err.Error(), one.text) {
			t.Errorf("%s: %v", name, one.err)
		}
		if errors.Is(one.err, jeton.ErrTokenRejected) || strings.Contains(one.err.Error(), secretText) {
			t.Errorf("%s: %v", name, one.err)
		}
	}
}
