package jeton

import "fmt"

// TokenVerifier is a [*Verifier] or a [*MultiIssuerVerifier].
type TokenVerifier interface {
	// verifierOf returns the verifier that decides about a token.
	verifierOf(token string) (*Verifier, error)
}

func (v *Verifier) verifierOf(string) (*Verifier, error) {
	if v == nil || v.handle == nil {
		return nil, unusable("verifier")
	}
	return v, nil
}

// MultiIssuerVerifier verifies JWTs of several issuers, each with its own keys and policy. It is safe for concurrent
// use.
//
// `iss` of the token selects the [Verifier], before keys are fetched and before the signature is verified. So no issuer
// can sign for another. A token of an unknown issuer causes no request. It is rejected with [ErrTokenIssuerMismatch],
// and a token without `iss` with [ErrTokenInvalidClaims]. Names are compared byte for byte. Encrypted tokens are rejected.
type MultiIssuerVerifier struct{ verifiers map[string]*Verifier }

// NewMultiIssuerVerifier creates a verifier from one [Verifier] for each issuer. Each needs [WithIssuer] and must
// verify signed JWTs. A second verifier for an issuer is [ErrIssuerTwice]. [WithLimits] cannot exceed the default limits here.
//
// Close the verifiers yourself: they are not copied.
func NewMultiIssuerVerifier(verifiers ...*Verifier) (*MultiIssuerVerifier, error) {
	if len(verifiers) == 0 {
		return nil, failure(CodeInvalidOption, "NewMultiIssuerVerifier: at least one verifier is required")
	}
	multi := &MultiIssuerVerifier{make(map[string]*Verifier, len(verifiers))}
	for at, verifier := range verifiers {
		fails := func(code Code, why string) error {
			return failure(code, fmt.Sprintf("verifier %d of %d: %s", at+1, len(verifiers), why))
		}
		switch {
		case verifier == nil || verifier.handle == nil:
			return nil, fails(CodeArgumentHandle, "nil or zero")
		case !verifier.isSigned:
			return nil, fails(CodeInvalidOption, "verifies PASETO or encrypted tokens, signed JWTs expected")
		case len(verifier.issuers) == 0:
			return nil, fails(CodeIssuerNotChosen, "accepts any issuer, `WithIssuer` expected")
		case len(verifier.issuers) > 1:
			return nil, fails(CodeInvalidOption, fmt.Sprintf("accepts %d issuers, one expected", len(verifier.issuers)))
		case multi.verifiers[verifier.issuers[0]] != nil:
			return nil, fails(CodeIssuerTwice, "its issuer is added twice")
		}
		multi.verifiers[verifier.issuers[0]] = verifier
	}
	return multi, nil
}

func (m *MultiIssuerVerifier) verifierOf(token string) (*Verifier, error) {
	if m == nil || m.verifiers == nil {
		return nil, unusable("verifier")
	}
	read, err := ReadUnverified(token)
	if err != nil {
		return nil, err
	}
	if read.Format != "jwt" {
		return nil, failure(CodeTokenMalformed, "the token is a "+read.Format+", a signed JWT is expected")
	}
	issuer, ok := read.issuer()
	if !ok {
		return nil, failure(CodeTokenInvalidClaims, "the claim `iss` is missing")
	}
	verifier, ok := m.verifiers[issuer]
	if !ok {
		return nil, failure(CodeTokenIssuerMismatch, "`iss` is not one of the expected issuers")
	}
	return verifier, nil
}

// String returns a fixed text without key material.
func (m *MultiIssuerVerifier) String() string { return "jeton.MultiIssuerVerifier" }
