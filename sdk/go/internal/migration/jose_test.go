package migration

import (
	"crypto/ecdsa"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/jeton/jeton/sdk/go"
)

func goJoseIssue(key *ecdsa.PrivateKey) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", "2026-11"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer:   "https://id.example",
		Audience: jwt.Audience{"api"},
		Expiry:   jwt.NewNumericDate(time.Now().Add(15 * time.Minute)),
	}).Claims(Custom{Admin: true}).Serialize()
}

func goJoseVerify(text string, key *ecdsa.PublicKey) (*Custom, error) {
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, err
	}
	var registered jwt.Claims
	var custom Custom
	if err := token.Claims(key, &registered, &custom); err != nil {
		return nil, err
	}
	return &custom, registered.Validate(jwt.Expected{
		Issuer:      "https://id.example",
		AnyAudience: jwt.Audience{"api"},
		Time:        time.Now(),
	})
}

func goJoseEncrypt(key *ecdsa.PublicKey, text []byte) (string, error) {
	encrypter, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.ECDH_ES, Key: key}, nil)
	if err != nil {
		return "", err
	}
	object, err := encrypter.Encrypt(text)
	if err != nil {
		return "", err
	}
	return object.CompactSerialize()
}

func goJoseDecrypt(key *ecdsa.PrivateKey, token string) ([]byte, error) {
	object, err := jose.ParseEncrypted(token, []jose.KeyAlgorithm{jose.ECDH_ES}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		return nil, err
	}
	return object.Decrypt(key)
}

func jetonEncrypt(key *jeton.Key, text []byte) (string, error) {
	encrypter, err := jeton.NewEncrypter(key, jeton.WithContentEncryption(jeton.A256GCM)) // once
	if err != nil {
		return "", err
	}
	return encrypter.Encrypt(text)
}

func jetonDecrypt(key *jeton.Key, token string) ([]byte, error) {
	decrypter, err := jeton.NewDecrypter(key, jeton.WithContentEncryption(jeton.A256GCM)) // once
	if err != nil {
		return nil, err
	}
	return decrypter.Decrypt(token)
}

func goJoseSign(key *ecdsa.PrivateKey, content []byte) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		return "", err
	}
	object, err := signer.Sign(content)
	if err != nil {
		return "", err
	}
	return object.CompactSerialize()
}

func jetonSign(key *jeton.Key, content []byte) (string, error) {
	signer, err := jeton.NewSigner(key) // once
	if err != nil {
		return "", err
	}
	return signer.Sign(content)
}

func TestGoJose(t *testing.T) {
	private := newKey(t)
	key, err := jeton.NewKey(private, jeton.WithAlgorithm(jeton.ES256), jeton.WithKeyID("2026-11"))
	check(t, err)
	text, err := goJoseIssue(private)
	check(t, err)
	verified, err := jetonVerify(text, &private.PublicKey)
	check(t, err)
	text, err = jetonIssue(private)
	check(t, err)
	custom, err := goJoseVerify(text, &private.PublicKey)
	check(t, err)
	if !verified.Claims.Admin || !custom.Admin {
		t.Error("claims differ")
	}
	decryption, err := jeton.NewKey(private, jeton.WithAlgorithm(jeton.ECDHES))
	check(t, err)
	token, err := goJoseEncrypt(&private.PublicKey, []byte("content"))
	check(t, err)
	content, err := jetonDecrypt(decryption, token)
	check(t, err)
	token, err = jetonEncrypt(decryption.Public(), content)
	check(t, err)
	content, err = goJoseDecrypt(private, token)
	check(t, err)
	for _, sign := range []func() (string, error){
		func() (string, error) { return goJoseSign(private, content) }, func() (string, error) { return jetonSign(key, content) },
	} {
		token, err := sign()
		check(t, err)
		verifier, err := jeton.NewSignatureVerifier(key)
		check(t, err)
		found, err := verifier.Verify(token)
		check(t, err)
		if string(found) != "content" {
			t.Errorf("found %q", found)
		}
	}
}
