// Renders deploy/helm/jeton with helm's library, and checks every object.
//
//	helm -root CHECKOUT -jeton BINARY
//
// Each object must decode strictly as a type of Kubernetes: an unknown field is an error. The rules of rules.go
// must hold, and `jeton serve --check` must accept the configuration in the files that the pod has. Negative
// controls change the chart or the values, and must be found. The exit code is 1 if something is wrong.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	jeton := flag.String("jeton", "", "the binary that checks the configuration")
	flag.Parse()
	if *jeton == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: helm -root CHECKOUT -jeton BINARY")
		os.Exit(2)
	}
	// helm writes a line for each link that it follows.
	log.SetOutput(io.Discard)
	binary, err := filepath.Abs(*jeton)
	if err != nil {
		fail(err)
	}
	chart, err := load(filepath.Join(*root, "deploy/helm/jeton"))
	if err != nil {
		fail(err)
	}
	page, err := readPage(filepath.Join(*root, "docs/kubernetes.md"))
	if err != nil {
		fail(err)
	}
	test := &test{chart: chart, page: page, jeton: binary}
	test.cases()
	test.commandsOfThePage()
	test.wrongValues()
	test.wrongCharts()
	fmt.Printf("%d checks, %d failed\n", test.checks, test.failed)
	if test.failed > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

type test struct {
	chart          *source
	page           *page
	jeton          string
	checks, failed int
}

// passes reports the problems of one check: there must be none.
func (t *test) passes(name string, problems []string) {
	t.checks++
	if len(problems) == 0 {
		return
	}
	t.failed++
	fmt.Printf("FAILED %s\n", name)
	for _, problem := range problems {
		fmt.Printf("    %s\n", problem)
	}
}

// finds reports a negative control: one of the problems must contain the text.
func (t *test) finds(name, text string, problems []string) {
	t.checks++
	if !contain(problems, text) {
		t.failed++
		fmt.Printf("FAILED %s: expected %q among %q\n", name, text, problems)
	}
}
