// Package linux_arm64_musl links jeton's native library for Linux on arm64 with musl.
//
// `cargo xtask package go` adds libjeton.a. It is not in the repository.
package linux_arm64_musl

// #cgo linux,arm64 LDFLAGS: -L${SRCDIR} -ljeton -lpthread -ldl -lm
import "C"
