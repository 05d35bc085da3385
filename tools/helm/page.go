package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
)

// docs/kubernetes.md: the values of its example, and its commands, each on one line.
type page struct {
	values   values
	commands []string
}

func readPage(file string) (*page, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := &page{}
	parts := strings.Split(string(text), "```")
	for index := 1; index < len(parts); index += 2 {
		language, block, _ := strings.Cut(parts[index], "\n")
		switch language {
		case "yaml":
			if read.values, err = chartutil.ReadValues([]byte(block)); err != nil {
				return nil, err
			}
		case "sh":
			block = strings.ReplaceAll(block, "\\\n", " ")
			for _, line := range strings.Split(block, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					read.commands = append(read.commands, line)
				}
			}
		default:
			return nil, fmt.Errorf("%s: a block has the language %q", file, language)
		}
	}
	if read.values == nil || len(read.commands) == 0 {
		return nil, fmt.Errorf("%s has no values or no commands", file)
	}
	return read, nil
}

// commandsOfThePage renders the chart with what each `helm` command sets, and looks for each command of jeton.
func (t *test) commandsOfThePage() {
	helm, jeton := 0, 0
	for _, command := range t.page.commands {
		words := strings.Fields(command)
		switch words[0] {
		case "helm":
			helm++
			t.passes(command, t.helmCommand(words))
		case "jeton":
			jeton++
			t.passes(command, t.jetonCommand(words))
		case "kubectl", "umask", "od", "rm":
			// They need a cluster, or are of the system.
		default:
			t.passes(command, []string{"nobody checks this command"})
		}
	}
	t.checks++
	if helm < 3 || jeton < 2 {
		t.passes("the page", []string{fmt.Sprintf("has %d commands of helm and %d of jeton", helm, jeton)})
	}
}

func (t *test) helmCommand(words []string) []string {
	given := copied(t.page.values)
	file := ""
	for index, word := range words {
		switch word {
		case "--set", "--set-string":
			if err := strvals.ParseInto(words[index+1], given); err != nil {
				return []string{err.Error()}
			}
		case "--values":
			file = words[index+1]
		case "--reuse-values":
			return []string{"new defaults would be lost"}
		}
	}
	if (words[1] == "install" || words[1] == "upgrade") && file != "values.yaml" {
		return []string{"the values of the page are missing"}
	}
	return t.problems("jeton", given)
}

// jetonCommand looks for a command and its options in its help.
func (t *test) jetonCommand(words []string) []string {
	verbs := []string{}
	for _, word := range words[1:] {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") != "" || strings.HasPrefix(word, "-") {
			break
		}
		verbs = append(verbs, word)
	}
	help, err := exec.Command(t.jeton, append(verbs, "--help")...).CombinedOutput()
	if err != nil {
		return []string{string(help)}
	}
	var problems []string
	for _, word := range words {
		if strings.HasPrefix(word, "--") && !strings.Contains(string(help), word) {
			problems = append(problems, "there is no option "+word)
		}
	}
	return problems
}
