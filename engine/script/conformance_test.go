package script

import (
	"errors"
	"maps"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// TestConformance runs the test files of go.starlark.net, from the module cache, in this evaluator. The exceptions are
// listed, each with its reason.
func TestConformance(t *testing.T) {
	out, err := osexec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.starlark.net").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "starlark", "testdata")
	if err != nil {
		t.Skipf("the module go.starlark.net is not in the cache: %v", err)
	}
	library, err := os.ReadFile(filepath.Join(dir, "..", "..", "starlarktest", "assert.star"))
	if err != nil {
		t.Skipf("the test library of go.starlark.net is not in the cache: %v", err)
	}
	for _, name := range []string{
		"assign", "bool", "builtins", "bytes", "control", "dict", "float", "function", "int", "list", "math", "misc",
		"recursion", "set", "string", "tuple",
	} {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, name+".star"))
			if err != nil {
				t.Fatal(err)
			}
			line := 0
			for chunk := range strings.SplitSeq(string(src), "\n---\n") {
				if !notOurs.MatchString(chunk) {
					conform(t, name+".star", chunk, line, string(library))
				}
				line += strings.Count(chunk, "\n") + 2
			}
		})
	}
}

var (
	// Recursion, failing loads and mutable fields are not part of this dialect, and Starlark's limit on repetition is
	// above this evaluator's.
	notOurs = regexp.MustCompile(`option:(recursion|loadbindsglobally)|option:globalreassign\nload|not found in module|` +
		`name froze|= assert|def setX|excessive repeat`)
	loadStatement = regexp.MustCompile(`(?m)^load\([^)]*\)$`)
	expectation   = regexp.MustCompile(`###\s*(.*)$`)
	// A type of the library with mutable fields, which no value has here.
	changing = regexp.MustCompile(`(?m)^( *)(.*(\bhf\b|hasfields|setfield|assert.eq\(f7).*)$`)
)

// conform runs one chunk of a test file: a program that may expect an error at one line.
func conform(t *testing.T, file, chunk string, before int, library string) {
	t.Helper()
	wantLine, want := 0, ""
	for i, text := range strings.Split(chunk, "\n") {
		if m := expectation.FindStringSubmatch(text); m != nil {
			wantLine = i + 1
			var err error
			if want, err = strconv.Unquote(m[1]); err != nil {
				t.Fatalf("%s:%d: %v", file, before+i+1, err)
			}
		}
	}
	failed := func(m *machine, a args, _ kwargs) (value.Value, error) {
		text, _ := starlark.AsString(a[0])
		t.Errorf("%s (chunk at line %d): %s", file, before+1, text)
		return starlark.None, nil
	}
	names := map[string]value.Value{
		"error": &native{"error", failed}, "catch": &native{"catch", catch}, "matches": &native{"matches", matches},
		"module": &native{"module", testModule}, "_freeze": &native{"freeze", freezeValue},
		"_floateq": &native{"_floateq", floatEqual}, "fibonacci": fibonacci{},
	}
	e, err := runFile("assert.star", library, names)
	if err != nil {
		t.Fatal(err)
	}
	names["assert"], names["freeze"] = e["assert"], e["freeze"]
	names["struct"] = starlark.NewBuiltin("struct", starlarkstruct.Make)
	chunk = changing.ReplaceAllString(chunk, "${1}pass")
	// This evaluator stops sorting at the first pair that cannot be compared; the library reports the last one.
	chunk = strings.Replace(chunk, `"int < NoneType not implemented"`, `"NoneType < int not implemented"`, 1)
	_, err = runFile(file, loadStatement.ReplaceAllStringFunc(chunk, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	}), names)
	got, line := "", 0
	var list resolve.ErrorList
	var syn syntax.Error
	var at *EvalError
	switch {
	case errors.As(err, &list):
		got, line = list[0].Msg, int(list[0].Pos.Line)
	case errors.As(err, &syn):
		got, line = syn.Msg, int(syn.Pos.Line)
	case errors.As(err, &at):
		got = at.Problem
		for _, f := range at.Trace {
			if f.File == file {
				line = f.Line
				break
			}
		}
	case err != nil:
		got = err.Error()
	}
	ok, err := regexp.MatchString(want, got)
	if err != nil {
		t.Fatal(err)
	}
	if line != wantLine || (want == "") != (got == "") || !ok {
		t.Errorf("%s:%d: got error %q, want %q at line %d", file, before+line, got, want, before+wantLine)
	}
}

// runFile runs a file with these predeclared names and returns its globals.
func runFile(name, src string, names map[string]value.Value) (map[string]value.Value, error) {
	options := *dialect
	options.GlobalReassign = strings.Contains(src, "option:globalreassign")
	file, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, err
	}
	has := func(m map[string]value.Value) func(string) bool {
		return func(name string) bool { _, ok := m[name]; return ok }
	}
	all := maps.Clone(universe)
	maps.Copy(all, predeclared)
	maps.Copy(all, names)
	if err := resolve.File(file, func(n string) bool { return has(names)(n) || has(predeclared)(n) }, has(universe)); err != nil {
		return nil, err
	}
	e := &Env{globals: &globals{}, limits: meter.Limits{Steps: 100_000_000, Bytes: 1 << 30}}
	module := file.Module.(*resolve.Module)
	e.globals.values = make([]value.Value, len(module.Globals))
	c := &compiler{constant: func(name string) value.Value { return all[name] }, globals: e.globals}
	m := start(nil, e, nil)
	defer m.release()
	fr := m.push(len(module.Locals))
	for i, b := range module.Locals {
		if b.Scope == resolve.Cell {
			fr.locals[i] = new(cell)
		}
	}
	if _, err := c.block(file.Stmts)(fr); err != nil {
		return nil, err
	}
	out := make(map[string]value.Value)
	for i, b := range module.Globals {
		out[b.First.Name] = e.globals.values[i]
	}
	return out, nil
}

func catch(m *machine, a args, _ kwargs) (value.Value, error) {
	_, err := m.call(a[0])
	if at, ok := errors.AsType[*EvalError](err); ok {
		return starlark.String(at.Problem), nil
	}
	if err != nil {
		return starlark.String(err.Error()), nil
	}
	return starlark.None, nil
}

func matches(_ *machine, a args, _ kwargs) (value.Value, error) {
	ok, err := regexp.MatchString(string(a[0].(starlark.String)), string(a[1].(starlark.String)))
	return starlark.Bool(ok), err
}

func testModule(_ *machine, a args, kw kwargs) (value.Value, error) {
	members := starlark.StringDict{}
	for _, pair := range kw {
		members[string(pair[0].(starlark.String))] = pair[1]
	}
	return &starlarkstruct.Module{Name: string(a[0].(starlark.String)), Members: members}, nil
}

func freezeValue(_ *machine, a args, _ kwargs) (value.Value, error) {
	a[0].Freeze()
	return a[0], nil
}

func floatEqual(_ *machine, a args, _ kwargs) (value.Value, error) {
	x, y := float64(a[0].(starlark.Float)), float64(a[1].(starlark.Float))
	return starlark.Bool(x == y || math.Nextafter(x, y) == y), nil
}

// fibonacci is an infinite sequence.
type fibonacci struct{ value.MissingType }

func (fibonacci) Iterate() starlark.Iterator { return &fibonacciIterator{0, 1} }

type fibonacciIterator struct{ x, y int }

func (it *fibonacciIterator) Next(p *value.Value) bool {
	*p = starlark.MakeInt(it.x)
	it.x, it.y = it.y, it.x+it.y
	return true
}

func (it *fibonacciIterator) Done() {}
