// Package defaults is how jetontest passes options that the options of a test replace.
package defaults

var (
	// Option makes an option of an issuer or a verifier a default. Package jeton sets it.
	Option func(option any) any
	// Settings returns what options of an issuer set. Package jeton sets it.
	Settings func(options []any) map[string]any
)
