// Judges recorded calls of several `jeton serve` nodes with porcupine.
//
// Each line of a history is one call as JSON. A token is a register: it is not revoked at first, and a
// revocation sets it forever. Each node must be linearizable on its own. A revocation that another node
// acknowledged may take effect here until the freshness bound has passed since the acknowledgement. One without
// acknowledgement may take effect at any later time, or never.
//
// It prints one line for each history. The exit code is 1 if one of them is not linearizable.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// A call of a client. Times are microseconds since the start of the history.
type call struct {
	Op     string `json:"op"` // "revoke" or "verify"
	Node   int    `json:"node"`
	Token  int    `json:"token"`
	Call   int64  `json:"call"`
	Return *int64 `json:"return"` // null: no response that says what happened
	// Whether a verification found the token revoked.
	Revoked bool `json:"revoked"`
}

type place struct{ node, token int }

// How long porcupine may search for an order of the calls with one token at one node.
const timeLimit = 20 * time.Second

var register = porcupine.Model{
	Init: func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		if input == "revoke" {
			return true, true
		}
		return output == state, state
	},
}

func main() {
	freshness := flag.Duration("freshness", 0, "the freshness bound, for example 8s")
	flag.Parse()
	if *freshness <= 0 || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: porcupine -freshness 8s HISTORY…")
		os.Exit(2)
	}
	code := 0
	for _, path := range flag.Args() {
		calls, err := read(path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "error: %s: %v\n", path, err)
			os.Exit(2)
		}
		wrong, registers := judge(calls, freshness.Microseconds())
		verdict := "linearizable"
		if len(wrong) > 0 {
			verdict = fmt.Sprintf("NOT linearizable: %v", wrong)
			code = 1
		}
		fmt.Printf("%d calls, %d registers: %s\n", len(calls), registers, verdict)
	}
	os.Exit(code)
}

func read(path string) ([]call, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var calls []call
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one call
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(calls)+1, err)
		}
		if one.Op != "revoke" && one.Op != "verify" {
			return nil, fmt.Errorf("line %d: unknown op %q", len(calls)+1, one.Op)
		}
		calls = append(calls, one)
	}
	return calls, lines.Err()
}

// Returns the tokens and nodes whose calls have no order, and the number of histories that were searched.
func judge(calls []call, freshness int64) ([]string, int) {
	verified, revocations := map[place][]porcupine.Operation{}, map[int][]call{}
	for _, one := range calls {
		if one.Op == "revoke" {
			revocations[one.Token] = append(revocations[one.Token], one)
		} else if one.Return != nil {
			at := place{one.Node, one.Token}
			verified[at] = append(verified[at], porcupine.Operation{
				ClientId: one.Node, Input: "verify", Call: one.Call, Output: one.Revoked, Return: *one.Return,
			})
		}
	}
	var wrong []string
	for at, history := range verified {
		for _, one := range revocations[at.token] {
			end := int64(math.MaxInt64)
			if one.Return != nil {
				end = *one.Return
				if one.Node != at.node {
					end += freshness
				}
			}
			history = append(history, porcupine.Operation{
				ClientId: one.Node, Input: "revoke", Call: one.Call, Return: end,
			})
		}
		if result := porcupine.CheckOperationsTimeout(register, history, timeLimit); result != porcupine.Ok {
			wrong = append(wrong, fmt.Sprintf("token %d at node %d: %s", at.token, at.node, result))
		}
	}
	sort.Strings(wrong)
	return wrong, len(verified)
}
