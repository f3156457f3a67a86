package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/assistant"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
)

// saidCommands returns all texts of the program that name a command of the terminal.
func saidCommands(t *testing.T) (all []string) {
	t.Helper()
	command := regexp.MustCompile(`throngctl [a-z]`)
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.Field); ok { // tags have help for people
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && command.MatchString(text) {
					all = append(all, strings.NewReplacer("%s", "20300301-120000-abcd", "%d", "3", "%q", `"x"`).Replace(text))
				}
			}
			return true
		})
		return nil
	}
	for _, root := range []string{".", "../internal/app", "../internal/control", "../../engine", "../../storage"} {
		if err := filepath.WalkDir(root, visit); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 100 {
		t.Fatalf("found only %d texts", len(all))
	}
	return all
}

// TestHintsNameTools checks that every text of the program that names a command names, for an assistant, a tool with parameters that it has,
// or says that only a person can use the command.
func TestHintsNameTools(t *testing.T) {
	commands := func() []string { return flags.Commands(model()) }
	data := t.TempDir()
	tool, command := regexp.MustCompile(`the tool (\w+)(?: \(([^)]*)\))?`), regexp.MustCompile(`throngctl ([a-z]+)`)
	for _, reader := range []bool{false, true} {
		var more []string
		if reader {
			more = []string{"--read-only"}
		}
		listed, err := assist(t, data, more...).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]map[string]any{} // the parameters of each tool
		for _, one := range listed.Tools {
			schema, _ := one.InputSchema.(map[string]any)
			has[one.Name], _ = schema["properties"].(map[string]any)
		}
		hints := assistant.Hints{Commands: commands, Reader: reader}
		for _, text := range saidCommands(t) {
			got := hints.Translate(text)
			before, forPeople, _ := strings.Cut(got, " (only the person you work for can use this, in a terminal: ")
			for _, m := range tool.FindAllStringSubmatch(before, -1) {
				parameters, ok := has[m[1]]
				if !ok {
					t.Errorf("%q names the tool %s, which does not exist", got, m[1])
				}
				for p := range strings.SplitSeq(m[2], ", ") {
					if name, _, _ := strings.Cut(p, ":"); name != "" && parameters[name] == nil {
						t.Errorf("%q: the tool %s has no parameter %s", got, m[1], name)
					}
				}
			}
			for _, m := range command.FindAllStringSubmatch(before, -1) {
				if slices.Contains(commands(), m[1]) && !strings.Contains(forPeople, m[0]) {
					t.Errorf("%q names the command %s, which an assistant does not have", got, m[1])
				}
			}
		}
	}
}

// TestHints checks what an assistant reads in place of commands.
func TestHints(t *testing.T) {
	hints := assistant.Hints{Commands: func() []string { return flags.Commands(model()) }}
	reader := assistant.Hints{Commands: hints.Commands, Reader: true}
	for _, tt := range []struct {
		hints      assistant.Hints
		text, want string
	}{
		{hints, "resume it with: throngctl resume 20300301-120000-abcd", "resume it with: the tool resume (run: 20300301-120000-abcd)"},
		{hints, "throngctl resume 20300301-120000-abcd --budget 2.5, or stop", "the tool resume (run: 20300301-120000-abcd, budget_usd: 2.5), or stop"},
		{reader, "throngctl resume 20300301-120000-abcd.", "throngctl resume 20300301-120000-abcd. (only the person you work for can use this, in a terminal: throngctl resume)"},
		{hints, "see `throngctl run 'my shop.yaml' --cycles=3` there", "see the tool run (file: my shop.yaml, cycles: 3) there"},
		{hints, "throngctl runs lists them", "the tool runs lists them"},
		{hints, "throngctl set max-concurrent=30 changes it", "the tool limit (max_concurrent: 30) changes it"},
		{hints, "throngctl status --follow", "the tool status"},
		{hints, "throngctl stop --now", "throngctl stop --now (only the person you work for can use this, in a terminal: throngctl stop)"},
		{hints, "throngctl queue cancel abcd; then", "the tool queue_cancel (id: abcd); then"},
		{hints, "more: --max-tokens 100", "more: max_tokens 100"},
		{hints, "set --record", "set --record (only the person you work for can use this, in a terminal: --record)"},
		{hints, "the throngctl of the same Throng", "the throngctl of the same Throng"},
		{hints, "a --- b", "a --- b"},
	} {
		if got := tt.hints.Translate(tt.text); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}
