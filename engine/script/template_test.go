package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

func TestTemplates(t *testing.T) {
	env := mustEnv(t, shopFunctions, value.Field{Name: "n", Value: starlark.MakeInt(3)})
	for _, test := range []struct{ src, want string }{
		{``, `""`},
		{`plain text`, `"plain text"`},
		{`$ 5 {x} $5 }`, `"$ 5 {x} $5 }"`},
		{`${agent.index}`, `16`},
		{`${ agent.tags }`, `["a", "b"]`},
		{` ${agent.index}`, `" 16"`},
		{`${agent.index}${agent.index}`, `"1616"`},
		{`shopper-${agent.index + 1}`, `"shopper-17"`},
		{`${params.n}`, `3`},
		{`n=${params.n}, ${1.0} ${2.50} ${True} ${None}|${steps.checkout.x}|`, `"n=3, 1 2.5 true ||"`},
		{`${agent.tags} ${steps.browse} ${now}`, `"[\"a\",\"b\"] {\"status\":200,\"products\":[{\"id\":1,\"price\":5},{\"id\":2,\"price\":9.5}]} 2026-01-02T08:04:05Z"`},
		{`${None}`, `None`},
		{`${steps.checkout}`, `missing`},
		{`$${agent.id}`, `"${agent.id}"`},
		{`$$${agent.id} $${x} ${agent.index}`, `"$${agent.id} ${x} 16"`},
		{`$$`, `"$$"`},
		{`${ {"a": {"b": "}"}} }`, `{"a": {"b": "}"}}`},
		{`x${ {"a": '}'}["a"] }y`, `"x}y"`},
		{`${ "\"}" }${ '\'}' }${ """a"}b""" }${ r'\'' }`, `"\"}'}a\"}b\\'"`},
		{"${ [1, # a comment with }\n 2] }", `[1, 2]`},
		{"${ agent.index # }\n}", `16`},
		{"${\n  agent.index\n  + 1\n}", `17`},
		{`${'${'}`, `"${"`},
		{`${"%s" % '${x}'}!`, `"${x}!"`},
		{`ä${agent.name}ö`, `"äAnnö"`},
		{`{"query": "${agent.name}"}`, `"{\"query\": \"Ann\"}"`},
		{`${1, 2}`, `(1, 2)`},
	} {
		tmpl, err := env.Template(test.src, scope)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if tmpl.Source() != test.src {
			t.Errorf("source of %s is %s", test.src, tmpl.Source())
		}
		v, err := tmpl.Eval(&Context{Names: session(t)})
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
		} else if v.String() != test.want {
			t.Errorf("%s = %s, want %s", test.src, v, test.want)
		}
		if _, constant := tmpl.Const(); constant != (len(tmpl.Names()) == 0) {
			t.Errorf("%s: constant is %v, names are %v", test.src, constant, tmpl.Names())
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	env := mustEnv(t, "")
	for _, test := range []struct{ src, want string }{
		{`a ${agent.id`, "1:3: ${ is not closed (the expression ends with }; write $${ for the characters themselves)"},
		{"ä\nbü ${f(1}", "2:7: this bracket is not closed (expected ) before the })"},
		{`${}`, "1:3: the expression is empty"},
		{`a ${ } b ${x} ${ y.z }`, "1:5: the expression is empty\n1:12: undefined: x\n1:18: undefined: y"},
		{"a\n  ${agent.id} ${agnt.id}", "2:17: undefined: agnt (did you mean agent?)"},
		{"a\n${1 +\n  }", "3:3: the expression ends too early"},
		{"${agent.id +* 3}", "1:12: unexpected '*', want primary expression"},
		{"${'abc}", "1:3: a string is not closed (a string ends on its line, with the same quote)"},
		{"${agent.id)}", "1:11: unexpected ) (no bracket is open here)"},
		{"a ${x} ${agent.id", "1:5: undefined: x\n1:8: ${ is not closed (the expression ends with }; write $${ for the characters themselves)"},
	} {
		_, err := env.Template(test.src, scope)
		if _, ok := errors.AsType[Errors](err); !ok {
			t.Errorf("%q: got error %v, want Errors", test.src, err)
		} else if err.Error() != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.src, err, test.want)
		}
	}
	tmpl, err := env.Template("a\nb ${agent.index} ${agent.name.x}", scope)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Eval(&Context{Names: session(t)}); err == nil ||
		err.Error() != "2:30: string has no .x field or method" {
		t.Errorf("got error %v", err)
	}
	if refs := tmpl.Refs("agent"); len(refs.Fields) != 2 || refs.Fields[1] != (Ref{"name", 2, 26}) {
		t.Errorf("refs are %v", refs)
	}
	tmpl, err = env.Template("a ${agent.index} ${[]} ${print}", scope)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Eval(&Context{Names: session(t)}); err == nil ||
		err.Error() != "1:26: the result contains <built-in function print>, which is not data" {
		t.Errorf("got error %v", err)
	}
}

// TestTemplateDrawsFromOneStream checks that the expressions of a template are one evaluation.
func TestTemplateDrawsFromOneStream(t *testing.T) {
	env := mustEnv(t, "")
	tmpl, err := env.Template("${uniform(0, 1)} ${uniform(0, 1)}", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Context{Field: "f"}
	v, err := tmpl.Eval(c)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Key.Text("f").Source()
	a, _ := value.Text(starlark.Float(s.Float64()))
	b, _ := value.Text(starlark.Float(s.Float64()))
	if want := starlark.String(a + " " + b); v != want {
		t.Errorf("got %s, want %s", v, want)
	}
}

// FuzzTemplate checks that any text either compiles or has errors with positions inside it, and that a compiled
// template evaluates or fails cleanly. An expression must end where Starlark's parser ends it.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		`a ${agent.id} b`, `${{"a": "}"}}`, `$${x}`, "${'''\n}'''}", `${r"\"}"}`, "${# }\n1}", `${"\` + "\r\n" + `"}`, `${(}`, `${1)}`,
		`$$${1}`, "${1\r# }\r}", "${\x001}", `${b"\xff" }`,
	} {
		f.Add(s)
	}
	env, err := New(Config{Limits: meter.Limits{Steps: 10_000, Bytes: 1 << 16}})
	if err != nil {
		f.Fatal(err)
	}
	names := Vars{"agent": value.NewRecord(value.Field{Name: "id", Value: starlark.String("x")})}
	f.Fuzz(func(t *testing.T, src string) {
		tmpl, err := env.Template(src, Scope{"agent"})
		if err != nil {
			checkPositions(t, src, err)
			return
		}
		if !strings.Contains(src, "${") {
			if v, ok := tmpl.Const(); !ok || v != starlark.String(src) {
				t.Fatalf("%q became %v", src, v)
			}
		}
		if _, err := tmpl.Eval(&Context{Names: names, Field: "f"}); err != nil {
			if _, ok := errors.AsType[*EvalError](err); !ok {
				t.Fatalf("%q: %T %v", src, err, err)
			}
		}
	})
}

// checkPositions reports errors with positions outside the text, and empty errors.
func checkPositions(t *testing.T, src string, err error) {
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("%q: got error %v, want Errors", src, err)
	}
	line, _ := advance(src, 1, 1)
	for _, e := range errs {
		if e.Line < 1 || e.Line > line || e.Col < 1 || e.Problem == "" || strings.Contains(e.Problem, "internal") {
			t.Fatalf("%q: error %v", src, e)
		}
	}
}

// FuzzExpr compares with go.starlark.net: an expression accepted here must parse there without the added brackets, and
// evaluate to the same value.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{
		`1 + 2`, `[x * 2 for x in range(3) if x]`, `{"a": (1, 2.5)}["a"][1]`, `"%s" % [1]`, `not 1 or "a" * 3`, `(lambda x, *y: y)(1, 2)`,
		`"abc"[::-1].upper()`, `sorted([3, 1], key=lambda x: -x)`, `1 if [] else {}`, `set([1]) | set([2])`, `"{}".format(1)`,
		`10 // 3% 2 << 3 ^ 1`, `dict(a=1, **{"b": 2})`, `max(1, 2.5)`, `'a' in "abc"`, `[1] < [1, 2]`, `-1.5e3`, `f(`, "1\n", "#", `b"a"[0]`,
	} {
		f.Add(s)
	}
	env, err := New(Config{Limits: meter.Limits{Steps: 10_000, Bytes: 1 << 16}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		x, err := env.Expr(src, nil)
		if err != nil {
			checkPositions(t, src, err)
			return
		}
		v, err := x.Eval(&Context{Field: "f"})
		if err != nil || strings.ContainsRune(src, '\x00') {
			return
		}
		thread := &starlark.Thread{Print: func(*starlark.Thread, string) {}}
		thread.SetMaxExecutionSteps(1e6)
		want, err := starlark.EvalOptions(dialect, thread, "", "("+src+"\n)", starlark.StringDict{"math": predeclared["math"]})
		if err != nil {
			var e *starlark.EvalError
			if !errors.As(err, &e) && strings.Contains(err.Error(), "undefined") || strings.Contains(err.Error(), "comparison exceeded") {
				return // a name predeclared here, or nesting deeper than the library compares
			}
			t.Fatalf("%q = %s, in go.starlark.net %v", src, v, err)
		}
		if v.String() != want.String() && !strings.Contains(want.String(), "<") {
			t.Fatalf("%q = %s, in go.starlark.net %s", src, v, want)
		}
	})
}
