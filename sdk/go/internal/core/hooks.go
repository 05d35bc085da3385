//go:build jeton_test_hooks

package core

// #define JETON_TEST_HOOKS
// #include "jeton.h"
import "C"

// PanicNext makes the next call panic inside the library. It exists only in the library for tests.
func PanicNext() { C.jeton_test_panic_next() }
