// Package jeton issues and verifies tokens: JWT, JWS, JWE and PASETO.
//
//	key, err := jeton.GenerateKey(jeton.ES256)
//	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
//		jeton.WithLifetime(15*time.Minute))
//	token, err := issuer.Issue(Visit{Page: "/"})
//
//	verifier, err := jeton.NewVerifier(key.Public(), jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
//	verified, err := jeton.Verify[Visit](verifier, token)
//	if errors.Is(err, jeton.ErrTokenExpired) { … }
//
// The work is done by a library in Rust, which is linked statically through cgo. Keys, issuers and verifiers are made once
// and used from many goroutines. Close wipes them; the garbage collector does it for those that are not closed. A value
// that is nil, zero or closed returns an error with the code [CodeArgumentHandle].
//
// Errors are an [*Error] with a stable [Code]. Their messages have no byte of a token, a key or a claim.
//
// # Claims
//
// Issue takes what encoding/json writes as an object. Verify returns what encoding/json reads, with three differences. Names
// must have exactly the case of the field: the member "ADMIN" does not fill the field `json:"admin"`. A whole number that a
// float64 cannot hold is an error where encoding/json would round it. A token without a claim that a struct declares is
// rejected, so that a token for another type is not read as this one; a pointer, and omitempty or omitzero in the tag, make a
// field optional, and [WithMissingFields] all of them.
package jeton
