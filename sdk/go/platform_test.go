package jeton_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Without cgo, the compiler names the reason.
func TestBuildWithoutCgoNamesTheReason(t *testing.T) {
	const reason = "undefined: jeton_needs_cgo_and_a_supported_platform"
	for _, of := range []string{".", "./jetonhttp"} {
		build := exec.Command("go", "build", of)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		output, err := build.CombinedOutput()
		if err == nil || !strings.Contains(string(output), reason) {
			t.Errorf("%s: %v: %s", of, err, output)
		}
	}
}
