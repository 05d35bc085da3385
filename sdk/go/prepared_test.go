package jeton_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// hsm is a signer that does not reveal its key.
type hsm struct {
	crypto.Signer
	broken bool
	failed error
}

func (h hsm) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	signature, err := h.Signer.Sign(random, digest, options)
	if h.broken {
		signature[len(signature)/2] ^= 1
	}
	return signature, errors.Join(err, h.failed)
}

func signers() map[jeton.Algorithm]crypto.Signer {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	return map[jeton.Algorithm]crypto.Signer{
		jeton.RS256: key, jeton.RS384: key, jeton.RS512: key, jeton.PS256: key, jeton.PS384: key, jeton.PS512: key,
		jeton.ES256: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)),
		jeton.ES384: must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)),
		jeton.ES512: must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)),
		jeton.EdDSA: ed, jeton.Ed25519: ed,
	}
}

func TestCryptoSigner(t *testing.T) {
	for alg, signer := range signers() {
		t.Run(string(alg), func(t *testing.T) {
			key := must(jeton.NewKeyFromSigner(hsm{Signer: signer}, alg, jeton.WithKeyID("hsm")))
			issuer, verifier := pair(key)
			for range 3 {
				verified := must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: "/"}))))
				if verified.Claims.Page != "/" || verified.KeyID() != "hsm" || verified.Algorithm() != alg {
					t.Errorf("found %+v", verified.Claims)
				}
			}
			broken := must(jeton.NewKeyFromSigner(hsm{Signer: signer, broken: true}, alg))
			if _, err := must(jeton.NewIssuer(broken, jeton.WithoutExpiry())).Issue(visit{}); err == nil || errors.Is(err, jeton.ErrTokenRejected) {
				t.Errorf("a wrong signature: %v", err)
			}
		})
	}
	cause := errors.New("the HSM is offline")
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	offline := must(jeton.NewKeyFromSigner(hsm{Signer: ed, failed: cause}, jeton.EdDSA))
	if _, err := must(jeton.NewIssuer(offline, jeton.WithoutExpiry())).Issue(visit{}); !errors.Is(err, jeton.ErrSignerFailed) || !errors.Is(err, cause) || strings.Contains(err.Error(), cause.Error()) {
		t.Errorf("a signer that fails: %v", err)
	}
	for name, err := range map[string]error{
		"HS256":       second(jeton.NewKeyFromSigner(ed, jeton.HS256)),
		"another alg": second(jeton.NewKeyFromSigner(ed, jeton.ES256)),
		"a nil key":   second(jeton.NewKeyFromSigner((*rsa.PrivateKey)(nil), jeton.RS256)),
	} {
		if jeton.CodeOf(err) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTwoStepSigning(t *testing.T) {
	signer := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	private := must(jeton.NewKeyFromSigner(signer, jeton.ES256))
	public := must(jeton.ParseKey(must(private.DER()), jeton.WithAlgorithm(jeton.ES256)))
	issuer := must(jeton.NewIssuer(public, jeton.WithLifetime(time.Minute)))
	if _, err := issuer.Issue(visit{}); !errors.Is(err, jeton.ErrKeyIsPublic) {
		t.Errorf("a public key issues: %v", err)
	}
	prepared := must(issuer.Prepare(visit{Page: "/"}))
	if alg := must(prepared.Algorithm()); alg != jeton.ES256 || strings.Count(string(must(prepared.Message())), ".") != 1 {
		t.Errorf("alg %s", alg)
	}
	signature := must(ecdsa.SignASN1(rand.Reader, signer, must(prepared.Digest())))
	token := must(prepared.Attach(signature, jeton.SignatureDER))
	if _, err := prepared.Attach(signature, jeton.SignatureDER); !errors.Is(err, jeton.ErrPreparedTokenUsed) {
		t.Errorf("a second signature: %v", err)
	}
	verifier := must(jeton.NewVerifier(public, jeton.WithAnyIssuer(), jeton.WithAnyAudience()))
	if verified := must(jeton.Verify[visit](verifier, token)); verified.Claims.Page != "/" {
		t.Error(verified.Claims)
	}
	other := must(issuer.Prepare(visit{}))
	if _, err := other.Attach(signature, jeton.SignatureDER); !errors.Is(err, jeton.ErrSignerSignatureInvalid) {
		t.Errorf("the signature of another token: %v", err)
	}
	token = must(issuer.IssueWith(context.Background(), visit{Page: "/"}, func(_ context.Context, prepared *jeton.Prepared) ([]byte, jeton.SignatureForm, error) {
		signature, err := ecdsa.SignASN1(rand.Reader, signer, must(prepared.Digest()))
		return signature, jeton.SignatureDER, err
	}))
	must(jeton.Verify[visit](verifier, token))
	if _, err := issuer.IssueWith(context.Background(), visit{}, nil); !errors.Is(err, jeton.ErrArgumentNull) {
		t.Error(err)
	}
	bytes := must(must(jeton.NewSigner(public)).Prepare([]byte("content")))
	token = must(bytes.Attach(must(ecdsa.SignASN1(rand.Reader, signer, must(bytes.Digest()))), jeton.SignatureDER))
	if content := must(must(jeton.NewSignatureVerifier(public)).Verify(token)); string(content) != "content" {
		t.Errorf("content %q", content)
	}
	// PASETO signs the message.
	secret := must(jeton.GenerateKey(jeton.V4Public))
	paseto := must(must(jeton.NewIssuer(secret.Public(), jeton.WithLifetime(time.Minute))).Prepare(visit{}))
	if _, err := paseto.Attach(make([]byte, 64), jeton.SignatureFixed); !errors.Is(err, jeton.ErrSignerSignatureInvalid) {
		t.Errorf("PASETO: %v", err)
	}
}
