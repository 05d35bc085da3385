//go:build !cgo

package core

// cgo is off: build with CGO_ENABLED=1 and a C compiler. The README lists the supported platforms.
var _ = jeton_needs_cgo_and_a_supported_platform
