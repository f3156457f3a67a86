package experiment

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// generator writes random functions of a number x. They return a list with a text for each draw: its place in the
// function, the passes of the loops around it, and its value.
type generator struct {
	t     *rapid.T
	text  strings.Builder
	sites int
}

// condition writes a condition, which may draw.
func (g *generator) condition() string {
	k := rapid.IntRange(0, 4).Draw(g.t, "k")
	return rapid.SampledFrom([]string{
		fmt.Sprintf("x > %d", k), fmt.Sprintf("x == %d", k), "chance(0.5)", fmt.Sprintf("x > %d and chance(0.5)", k),
		fmt.Sprintf("chance(0.5) or x > %d", k), fmt.Sprintf("(chance(0.5) if x > %d else chance(0.2))", k),
	}).Draw(g.t, "condition")
}

func (g *generator) line(indent int, format string, args ...any) {
	fmt.Fprintf(&g.text, strings.Repeat("    ", indent)+format+"\n", args...)
}

// block writes statements in some loops.
func (g *generator) block(indent, depth, loops int) {
	for range rapid.IntRange(1, 3).Draw(g.t, "statements") {
		kinds := []string{"draw", "draw", "sample"}
		if depth > 0 {
			kinds = append(kinds, "if", "call", "list")
		}
		if depth > 0 && loops < 2 {
			kinds = append(kinds, "for", "for")
		}
		if loops > 0 {
			kinds = append(kinds, "continue", "break")
		}
		switch rapid.SampledFrom(kinds).Draw(g.t, "kind") {
		case "draw":
			g.sites++
			g.line(indent, `out.append("%d %%d %%d %%s" %% (i, j, uniform(0, 1)))`, g.sites)
		case "sample":
			g.line(indent, "%s", rapid.SampledFrom([]string{"sample([1, 2, 3], 2)", "shuffle([1, 2, 3])", "shuffle(range(x))", "sample(range(9), x)"}).Draw(g.t, "sample"))
		case "if":
			g.line(indent, "if %s:", g.condition())
			g.block(indent+1, depth-1, loops)
			if rapid.Bool().Draw(g.t, "else") {
				g.line(indent, "else:")
				g.block(indent+1, depth-1, loops)
			}
		case "for":
			g.line(indent, "for %s in %s:", []string{"i", "j"}[loops], rapid.SampledFrom([]string{"range(2)", "[0, 1, 2]", "range(x)"}).Draw(g.t, "over"))
			g.block(indent+1, depth-1, loops+1)
		case "call":
			g.line(indent, "%s", rapid.SampledFrom([]string{"inner(x)", "x > 2 and inner(x)", "fixed()"}).Draw(g.t, "call"))
		case "list":
			g.sites++
			g.line(indent, `out.extend(["%d %%d %%d %%d %%s" %% (i, j, n, uniform(0, 1)) for n in range(x)])`, g.sites)
		case "continue", "break":
			g.line(indent, "if %s:", g.condition())
			g.line(indent+1, "%s", rapid.SampledFrom([]string{"continue", "break", "return out"}).Draw(g.t, "leave"))
		}
	}
}

// TestCRNIsSound checks random functions without warnings: whatever the data, each draw that is made in two runs has the
// same value in both.
func TestCRNIsSound(t *testing.T) {
	sound, warned := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t}
		g.text.WriteString("def fixed():\n    return uniform(0, 1) + normal(0, 1)\n\ndef inner(x):\n    if x > 3:\n        return 0\n    return pick([1, 2, 3])\n\n")
		g.line(0, "def f(x):")
		g.line(1, "out = []")
		g.line(1, "i, j = 0, 0")
		g.block(1, 3, 0)
		g.line(1, "return out")
		text := g.text.String()

		shifted := 0
		r := &scripts{functions: map[string]*function{}, shifted: func(place, string) { shifted++ }}
		file, err := dialect.Parse("f.star", text, 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, stmt := range file.Stmts {
			def := stmt.(*syntax.DefStmt)
			r.functions[def.Name.Name] = &function{def: def, where: func(p syntax.Position) place { return place{"f.star", int(p.Line), int(p.Col)} }}
		}
		(&walk{scripts: r}).call(r.functions["f"], count{})
		if shifted > 0 {
			warned++
			return
		}
		sound++
		env, err := script.New(script.Config{Functions: &script.Source{Name: "f.star", Text: text}})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f, _ := env.Func("f")
		first := map[string]string{}
		for x := range 6 {
			for seed := range uint64(3) {
				key := draw.Key{}.Int(seed)
				out, err := f.Call(&script.Context{Key: key, Field: "f"}, func(string) (value.Value, error) { return starlark.MakeInt(x), nil })
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				for _, one := range textsOf(t, out) {
					at, v := cutAtLast(one, " ")
					at = fmt.Sprint(seed, " ", at)
					if was, known := first[at]; known && was != v {
						t.Fatalf("the draw %s is %s with x = %d, and %s before, without a warning:\n%s", at, v, x, was, text)
					}
					first[at] = v
				}
			}
		}
	})
	if sound < 10 || warned < 10 {
		t.Errorf("%d functions had warnings, and %d had none", warned, sound)
	}
}

func cutAtLast(text, sep string) (before, after string) {
	i := strings.LastIndex(text, sep)
	return text[:i], text[i+len(sep):]
}

// textsOf returns the texts of a list.
func textsOf(t *rapid.T, v value.Value) (all []string) {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		t.Fatalf("got %s, want a list", v.Type())
	}
	it := seq.Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		text, err := value.Text(x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}
