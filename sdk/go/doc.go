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
// A native library in Rust does the work. It is linked statically through cgo. Create keys, issuers and verifiers once,
// and use them from many goroutines. Close wipes a value; the garbage collector wipes values that are not closed. A
// nil, zero or closed value returns an error with the code [CodeArgumentHandle].
//
// Errors are an [*Error] with a stable [Code]. Messages never contain bytes of a token, key or claim.
//
// # Claims
//
// Issue accepts any value that encoding/json writes as an object. Verify reads claims like encoding/json, with three
// differences:
//   - Names are case-sensitive: the member "ADMIN" does not fill the field `json:"admin"`.
//   - A whole number that a float64 cannot hold is an error. encoding/json would round it.
//   - A token must have every claim that a struct declares, so that a token for another type is rejected. A pointer,
//     omitempty or omitzero makes a field optional. [WithMissingFields] makes all fields optional.
package jeton
