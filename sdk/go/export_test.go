package jeton

import "context"

// Exports for tests in package jeton_test.
var (
	CheckPublic = checkPublic
	ClientOf    = clientOf
	Fold        = fold
)

// PublicOnly marks a request as the library does.
func PublicOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, publicOnly{}, true)
}
