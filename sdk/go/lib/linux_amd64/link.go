// Package linux_amd64 links jeton's native library for Linux on x86-64 with glibc.
//
// `cargo xtask sdk go` puts libjeton.a here. It is not in the repository.
package linux_amd64

// #cgo linux,amd64 LDFLAGS: -L${SRCDIR} -ljeton -lpthread -ldl -lm
import "C"
