// Package migration compiles and runs the code of MIGRATION.md.
package migration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	return key
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPageHasTheCodeOfTheseTests checks that each code block of the page is in a file of this folder. Indentation may
// differ.
func TestPageHasTheCodeOfTheseTests(t *testing.T) {
	page, err := os.ReadFile("../../MIGRATION.md")
	check(t, err)
	files, err := filepath.Glob("*_test.go")
	check(t, err)
	var sources []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		check(t, err)
		sources = append(sources, trimmed(string(source)))
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 12 {
		t.Errorf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ := strings.Cut(block, "```")
		found := false
		for _, source := range sources {
			found = found || strings.Contains(source, trimmed(block))
		}
		if !found {
			t.Errorf("no test has this code:\n%s", block)
		}
	}
}

func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}
