package jeton

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

type shapeInner struct {
	Role  string                 `json:"role,omitempty"`
	Inner *shapeInner            `json:"inner"`
	Map   map[string]*shapeInner `json:"map,omitempty"`
	List  []shapeInner           `json:"list,omitempty"`
}

type shapeEmbedded struct {
	Admin int `json:"admin"`
	Depth int `json:"depth"`
}

type shapeOuter struct {
	shapeEmbedded
	shapeInner
	Depth string `json:"depth"` // hides the field of the embedded struct
	Kilo  string `json:"kilo,omitempty"`
	Plain string
	Skip  string `json:"-"`
	Any   any    `json:"any"`
}

// randomText writes an object for shapeInner with names in any case, and returns the members with exact names.
func randomText(random *rand.Rand, depth int) (text string, exact map[string]any) {
	exact = map[string]any{}
	var members []string
	used := map[string]bool{}
	space := func() string { return strings.Repeat(" ", random.IntN(2)) }
	for range random.IntN(5) {
		name := []string{"role", "ROLE", "Role", "inner", "INNER", "map", "Map", "list", "LIST", "other", "ſ", `r\u006fle`, "r\u212Aole"}[random.IntN(13)]
		plain := strings.ReplaceAll(name, `\u006f`, "o")
		if used[plain] {
			continue
		}
		used[plain] = true
		var value string
		var kept any
		switch strings.ToLower(plain) {
		case "inner":
			value, kept = "null", nil
			if depth > 0 {
				inner, of := randomText(random, depth-1)
				value, kept = inner, of
			}
		case "map":
			inner, of := randomText(random, depth-1)
			value, kept = `{"A":`+inner+`}`, map[string]any{"A": of}
			if depth <= 0 {
				value, kept = "{}", map[string]any{}
			}
		case "list":
			value, kept = "[]", []any{}
			if depth > 0 {
				inner, of := randomText(random, depth-1)
				value, kept = "["+inner+" , "+inner+"]", []any{of, of}
			}
		default:
			value, kept = `"a\"}b"`, `a"}b`
		}
		members = append(members, space()+`"`+name+`"`+space()+":"+space()+value+space())
		if plain == strings.ToLower(plain) && plain != "ſ" && plain != "r\u212Aole" {
			exact[plain] = kept
		}
	}
	return space() + "{" + strings.Join(members, ",") + space() + "}" + space(), exact
}

func TestRandomNamesAreReadWithExactCase(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	of := planOf[shapeInner]().shape
	verifier := &Verifier{}
	for range 20_000 {
		text, exact := randomText(random, 3)
		left, err := verifier.check([]byte(text), of)
		if err != nil || !json.Valid(left) {
			t.Fatalf("%s\nbecame %s", text, left)
		}
		var found, expected shapeInner
		if err := json.Unmarshal(left, &found); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(exact)
		if err := json.Unmarshal(again, &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(found, expected) {
			t.Fatalf("%s\nbecame %s\nexpected %s", text, left, again)
		}
	}
}

func TestEmbeddedFieldsAndTags(t *testing.T) {
	of := planOf[shapeOuter]().shape
	for _, name := range []string{"admin", "depth", "role", "kilo", "Plain", "any"} {
		if of.members[name].shape == nil {
			t.Errorf("%s is not a member", name)
		}
	}
	if of.members["Skip"].shape != nil || of.members["-"].shape != nil || of.members["plain"].shape != nil {
		t.Error("a name is a member that encoding/json does not read")
	}
	text := `{"any":{"ADMIN":[1,{"x":2}]},"skip":"a","Admin":1,"depth":"d","kilo":"k","KILO":"x","any2":1e400}`
	verifier := &Verifier{partial: true}
	left, err := verifier.check([]byte(text), of)
	if err != nil || string(left) != `{"any":{"ADMIN":[1,{"x":2}]},"skip":"a","depth":"d","kilo":"k","any2":1e400}` {
		t.Errorf("left %s", left)
	}
	if _, err := verifier.check([]byte(`{"any":[1,{"b":123456789012345678901}]}`), of); err == nil {
		t.Error("a number is rounded")
	}
	verifier.numbers = true
	if _, err := verifier.check([]byte(`{"any":[1,{"b":123456789012345678901}]}`), of); err != nil {
		t.Error("a json.Number is rejected")
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"role":"a","Role":"b","inner":{"ROLE":1}}`)
	f.Add(`{"list":[{"r\u006fle":"x"}],"MAP":{}}`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, text string) {
		left, err := new(Verifier).check([]byte(text), planOf[shapeInner]().shape)
		if err == nil && json.Valid([]byte(text)) && !json.Valid(left) {
			t.Errorf("%s became %s", text, left)
		}
	})
}

func TestMissingFields(t *testing.T) {
	type inner struct {
		Role string `json:"role"`
	}
	type large struct {
		shapeEmbedded
		*shapeInner
		Name  string `json:"name"`
		Opt   string `json:"opt,omitempty"`
		Zero  inner  `json:"zero,omitzero"`
		To    *inner `json:"to"`
		List  []inner
		Any   any
		Extra map[string]inner
	}
	good := `{"admin":1,"depth":2,"name":"n","List":[{"role":"r"}],"Any":null,"Extra":null}`
	for text, missing := range map[string]string{
		good: "",
		`{"admin":1,"depth":2,"name":"n","List":null,"Any":1,"Extra":{}}`:                          "",
		`{"depth":2,"name":"n","List":null,"Any":1,"Extra":{}}`:                                    "admin",
		`{"admin":null,"depth":2,"name":"n","List":null,"Any":1,"Extra":{}}`:                       "admin",
		`{"admin":1,"depth":2,"NAME":"n","List":null,"Any":1,"Extra":{}}`:                          "name",
		`{"admin":1,"depth":2,"name":"n","Any":1,"Extra":{}}`:                                      "List",
		`{"admin":1,"depth":2,"name":"n","List":[{}],"Any":1,"Extra":{}}`:                          "role",
		`{"admin":1,"depth":2,"name":"n","List":null,"Any":1,"Extra":{"a":{"role":null}}}`:         "role",
		`{"admin":1,"depth":2,"name":"n","List":null,"Any":1,"Extra":{},"to":{}}`:                  "role",
		`{"admin":1,"depth":2,"name":"n","List":null,"Any":1,"Extra":{},"to":null,"zero":{"r":1}}`: "role",
	} {
		_, err := new(Verifier).check([]byte(text), planOf[large]().shape)
		if missing == "" && err != nil || missing != "" && (err == nil || !strings.Contains(err.Error(), "`"+missing+"`")) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := (&Verifier{partial: true}).check([]byte(text), planOf[large]().shape); err != nil {
			t.Errorf("%s, partial: %v", text, err)
		}
	}
}
