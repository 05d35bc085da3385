// Package defaults lets jetontest set default options, which the options of a test replace.
package defaults

var (
	// Option makes an option of an issuer or a verifier a default. Package jeton sets it.
	Option func(option any) any
	// Settings returns the settings of issuer options. Package jeton sets it.
	Settings func(options []any) map[string]any
)
