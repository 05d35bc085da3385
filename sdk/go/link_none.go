//go:build cgo && !(linux && (amd64 || arm64))

package jeton

// This platform is not supported yet. The README lists the supported platforms.
var _ = jeton_needs_cgo_and_a_supported_platform
