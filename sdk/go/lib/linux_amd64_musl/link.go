// Package linux_amd64_musl links jeton's native library for Linux on x86-64 with musl.
//
// `cargo xtask package go` adds libjeton.a. It is not in the repository.
package linux_amd64_musl

// #cgo linux,amd64 LDFLAGS: -L${SRCDIR} -ljeton -lpthread -ldl -lm
import "C"
