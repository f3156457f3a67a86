package editor

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

func TestKeysAt(t *testing.T) {
	lines := strings.Split("services:\n  shop:\n    kind: http\n\nchain a:\n  step b: {kind: http, json: {id: 1, x: '{y: 2'}, get: /z}\n  step c:\n    - {name: d}\n", "\n")
	for _, c := range []struct {
		line, col int
		want      string
	}{
		{1, 1, "services"},
		{3, 6, "services/shop/kind"},
		{4, 1, "services/shop/kind"},
		{6, 13, "chain a/step b/kind"},
		{6, 32, "chain a/step b/json/id"},
		{6, 40, "chain a/step b/json/x"},
		{6, 55, "chain a/step b/get"},
		{6, 3, "chain a/step b"},
	} {
		got := append(keysAt(lines, c.line-1), flowKeys(lines[c.line-1], c.col-1)...)
		if strings.Join(got, "/") != c.want {
			t.Errorf("%d:%d: %q, want %q", c.line, c.col, got, c.want)
		}
	}
}

// TestTheLanguageIsExplained checks that every key of the language in the built-in scenarios has an explanation.
func TestTheLanguageIsExplained(t *testing.T) {
	for _, path := range [][]string{{"clock", "cycles"}, {"services", "shop", "url"}, {"chain shop", "step browse", "get"}, {"chain shop", "step a", "do", "step b", "kind"}, {"population", "count"}} {
		if about, _ := language().explain(path); about == "" || strings.Contains(about, "Unknown") {
			t.Errorf("%v: %q", path, about)
		}
	}
	if about, allowed := language().explain([]string{"clock", "cycels"}); !strings.Contains(about, "Unknown") || !slices.ContainsFunc(allowed, func(k key) bool { return k.name == "cycles" }) {
		t.Errorf("%q, allowed it %v", about, allowed)
	}
	for _, name := range assets.Gallery {
		text, err := fs.ReadFile(assets.Scenarios(), name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i := range lines {
			if path := keysAt(lines, i); len(path) == 1 {
				if about, _ := language().explain(path); about == "" || strings.Contains(about, "Unknown") {
					t.Errorf("%s:%d: %v: %q", name, i+1, path, about)
				}
			}
		}
	}
}
