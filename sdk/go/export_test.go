package jeton

import "context"

// For tests in the other package.
var (
	CheckPublic = checkPublic
	ClientOf    = clientOf
	Fold        = fold
)

// PublicOnly marks a request as the library does.
func PublicOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, publicOnly{}, true)
}
