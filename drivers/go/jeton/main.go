// The driver of jeton's library for Go. Issuers and verifiers are made once, with every check of the library. The custom
// claims have a struct; the library returns the registered ones itself.
package main

import (
	"encoding/json"
	"slices"

	"github.com/jeton/jeton/sdk/go"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	tokens := []string{harness.OperationSign, harness.OperationVerify, harness.OperationRoundTrip, harness.OperationGenerateKey}
	encrypted := []string{
		harness.OperationEncrypt, harness.OperationDecrypt, harness.OperationRoundTrip, harness.OperationGenerateKey,
	}
	var pasetos []harness.Offer
	for _, version := range []string{"v3", "v4"} {
		for format, operations := range map[string][]string{
			version + ".public": tokens, version + ".local": append(slices.Clone(encrypted[:2]), tokens...),
		} {
			pasetos = append(pasetos, harness.Offer{
				Format: format, Operations: operations, KeyHandling: []string{harness.Prepared, harness.ParsedPerCall},
			})
		}
	}
	return &harness.Driver{
		Library:  "jeton",
		Module:   "github.com/jeton/jeton/sdk/go",
		ByDriver: []string{"jwe:claims"},
		Extras:   []string{"cached", "issuers"},
		Offers: slices.Concat(
			harness.LoadingKeys(harness.JWTOffers(append(slices.Clone(tokens), harness.OperationVerifySignature),
				// begin: MACs and signatures, written by `cargo xtask sdk algorithms`
				"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
				"ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87",
				// end: MACs and signatures
			), harness.FormJWK, harness.FormPEM),
			harness.LoadingKeys(harness.JWEOffers(encrypted,
				[]string{
					// begin: keys for JWE, written by `cargo xtask sdk algorithms`
					"dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW", "RSA-OAEP",
					"RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512", "ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW",
					"ECDH-ES+A256KW",
					// end: keys for JWE
				},
				[]string{"A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM"}),
				harness.FormJWK, harness.FormPEM),
			harness.LoadingKeys(pasetos, harness.FormPaserk),
		),
		Sign:            sign,
		Verify:          verify,
		VerifySignature: verifySignature,
		GenerateKey:     generateKey,
		LoadKey:         loadKey,
	}
}

// issued are all claims to sign.
type issued struct {
	Issuer    string           `json:"iss,omitempty"`
	Subject   string           `json:"sub,omitempty"`
	Audience  harness.Audience `json:"aud,omitempty"`
	ExpiresAt int64            `json:"exp,omitempty"`
	NotBefore int64            `json:"nbf,omitempty"`
	IssuedAt  int64            `json:"iat,omitempty"`
	ID        string           `json:"jti,omitempty"`
	Name      string           `json:"name,omitempty"`
	Admin     bool             `json:"admin"`
}

// issuedPaseto has the times as text, and the audience as one.
type issuedPaseto struct {
	Issuer    string `json:"iss,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Audience  any    `json:"aud,omitempty"`
	ExpiresAt string `json:"exp,omitempty"`
	NotBefore string `json:"nbf,omitempty"`
	IssuedAt  string `json:"iat,omitempty"`
	ID        string `json:"jti,omitempty"`
	Name      string `json:"name,omitempty"`
	Admin     bool   `json:"admin"`
}

// custom are the claims beside the registered ones.
type custom struct {
	Name  string `json:"name"`
	Admin bool   `json:"admin"`
}

func claimsOf(p *harness.Prepare) ([]any, error) {
	claims := make([]any, len(p.Claims.Values))
	switch {
	case !p.TypedClaims():
		values, err := harness.IssuedMaps(p)
		for i := range values {
			claims[i] = values[i]
		}
		return claims, err
	case p.Format[0] == 'v':
		values, err := harness.Issued[issuedPaseto](p)
		for i := range values {
			claims[i] = &values[i]
		}
		return claims, err
	}
	values, err := harness.Issued[issued](p)
	for i := range values {
		claims[i] = &values[i]
	}
	return claims, err
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	claims, err := claimsOf(p)
	if err != nil {
		return nil, err
	}
	if p.Format == "jwe" {
		return encrypt(p, claims)
	}
	issuer, err := source(p, func() (*jeton.Issuer, error) {
		key, err := private(p)
		if err != nil {
			return nil, err
		}
		defer key.Close()
		if p.ExpiryRequired() {
			return jeton.NewIssuer(key)
		}
		return jeton.NewIssuer(key, jeton.WithoutExpiry())
	})
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) (token string, err error) {
		issuer, done, err := issuer()
		if err != nil {
			return "", err
		}
		token, err = issuer.Issue(claims[index])
		done()
		return token, err
	})
}

func policy(p *harness.Prepare) []jeton.VerifierOption {
	options := []jeton.VerifierOption{jeton.WithAnyIssuer(), jeton.WithAnyAudience()}
	if p.Policy.Issuer != "" {
		options[0] = jeton.WithIssuer(p.Policy.Issuer)
	}
	if p.Policy.Audience != "" {
		options[1] = jeton.WithAudience(p.Policy.Audience)
	}
	if !p.ExpiryRequired() {
		options = append(options, jeton.WithoutExpiry())
	}
	if !p.TypedClaims() {
		options = append(options, jeton.WithNumbers())
	}
	if p.Caches() {
		options = append(options, jeton.WithCache(64))
	}
	return options
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	if p.Format == "jwe" {
		return decrypt(p)
	}
	if p.Issuers != nil {
		return verifyIssuers(p)
	}
	verifier, err := source(p, func() (*jeton.Verifier, error) { return newVerifier(p) })
	if err != nil {
		return nil, err
	}
	if p.TypedClaims() {
		return verifying[custom](p, verifier)
	}
	return verifying[map[string]any](p, verifier)
}

func newVerifier(p *harness.Prepare) (*jeton.Verifier, error) {
	key, err := public(p)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	return jeton.NewVerifier(key, policy(p)...)
}

func verifyIssuers(p *harness.Prepare) (*harness.Operation, error) {
	var verifiers []*jeton.Verifier
	for _, one := range p.EachIssuer() {
		verifier, err := newVerifier(one)
		if err != nil {
			return nil, err
		}
		verifiers = append(verifiers, verifier)
	}
	multi, err := jeton.NewMultiIssuerVerifier(verifiers...)
	if err != nil {
		return nil, err
	}
	return verifying[map[string]any](p, func() (jeton.TokenVerifier, func(), error) { return multi, func() {}, nil })
}

func verifying[T any, V jeton.TokenVerifier](p *harness.Prepare, verifier func() (V, func(), error)) (*harness.Operation, error) {
	return harness.Verifying(p, func(token string) (*jeton.Verified[T], error) {
		verifier, done, err := verifier()
		if err != nil {
			return nil, err
		}
		verified, err := jeton.Verify[T](verifier, token)
		done()
		return verified, err
	}, (*jeton.Verified[T]).ID, func(verified *jeton.Verified[T]) any { return json.RawMessage(verified.JSON()) })
}

func verifySignature(p *harness.Prepare) (*harness.Operation, error) {
	verifier, err := source(p, func() (*jeton.SignatureVerifier, error) {
		key, err := public(p)
		if err != nil {
			return nil, err
		}
		defer key.Close()
		return jeton.NewSignatureVerifier(key)
	})
	if err != nil {
		return nil, err
	}
	return harness.VerifyingSignature(p, func(token string) error {
		verifier, done, err := verifier()
		if err != nil {
			return err
		}
		_, err = verifier.Verify(token)
		done()
		return err
	})
}
