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
// The package calls a Rust library through cgo, which is linked statically. Create keys, issuers and verifiers once.
// They are safe for concurrent use. Close wipes their secrets. Without Close, they are wiped when the garbage collector
// finds that the value is unreachable. A nil, zero or closed value causes [ErrArgumentHandle].
//
// The time is that of [time.Now], which a bubble of testing/synctest replaces, or of [WithClock]. Remote key sets are
// cached by the time of the machine.
//
// Errors have the type [*Error] and a stable [Code]. Messages never contain bytes of a token, key or claim.
//
// # Claims
//
// [Issuer.Issue] accepts any value that encoding/json writes as an object. [Verify] reads claims like encoding/json,
// with three differences:
//   - Names are case-sensitive: the claim "ADMIN" does not fill a field with the tag `json:"admin"`.
//   - An integer that a float64 or float32 cannot hold exactly is an error. encoding/json would round it.
//   - Each field of a struct needs a claim. encoding/json would leave the field zero. Pointers, and fields with
//     omitempty or omitzero, are optional. [WithMissingFields] makes all fields optional.
//
// If the type of the claims has a method Validate() error, it is called after the verification, as golang-jwt does.
package jeton
