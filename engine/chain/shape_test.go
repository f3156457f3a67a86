package chain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/script/value"
)

// shapeOf parses a shape.
func shapeOf(t rapid.TB, text string) *shape.Shape {
	t.Helper()
	a, err := stepShape(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// stepShape parses a shape in a step.
func stepShape(text string) (*shape.Shape, error) {
	st := stage{steps: "step a: {kind: llm, service: model, prompt: hi, answer: " + text + "}", more: []*Service{{Name: "model", Kind: "llm"}}}
	c, report, _ := st.read(noTest{})
	if err := report.Err(); err != nil {
		return nil, err
	}
	return c.Body.Steps[0].action.(*completion).shape, nil
}

// noTest is a label for parsing where a test is not available.
type noTest struct{ testing.TB }

func (noTest) Helper()              {}
func (noTest) Fatal(problem ...any) { panic(fmt.Sprint(problem...)) }

// TestShapes checks which documents match a shape.
func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		shape     string
		fit, fail []string
	}{
		{"{a: string}", []string{`{"a":""}`, `{"a":"é\u0000"}`, `{"a":"x","b":1}`}, []string{`{"a":1}`, `{"a":null}`, `{}`, `{"A":"x"}`, `null`, `"a"`}},
		{"{a: bool}", []string{`{"a":true}`}, []string{`{"a":"true"}`, `{"a":0}`}},
		{"{a: int}", []string{`{"a":1}`, `{"a":-7}`, `{"a":3.0}`, `{"a":1e3}`, `{"a":123456789012345678901234567890}`}, []string{`{"a":1.5}`, `{"a":"1"}`}},
		{"{a: float}", []string{`{"a":1}`, `{"a":1.5}`, `{"a":-2e-5}`}, []string{`{"a":"1.5"}`, `{"a":NaN}`}},
		{"{a: list}", []string{`{"a":[]}`, `{"a":["x"]}`, `{"a":[1,{"b":[]}]}`}, []string{`{"a":"x"}`, `{"a":{}}`}},
		{"{a: [x, y]}", []string{`{"a":"x"}`}, []string{`{"a":"z"}`, `{"a":["x"]}`, `{"a":null}`}},
		{"{a: [1, 2.5, true, one]}", []string{`{"a":1}`, `{"a":2.5}`, `{"a":true}`, `{"a":"one"}`}, []string{`{"a":false}`, `{"a":"1"}`, `{"a":2}`}},
		{"{a?: int}", []string{`{}`, `{"a":null}`, `{"a":1}`}, []string{`{"a":"1"}`}},
		{"{a?: [x]}", []string{`{}`, `{"a":null}`, `{"a":"x"}`}, []string{`{"a":"y"}`}},
		{"{a: {b: int, c?: {d: bool}}}", []string{`{"a":{"b":1}}`, `{"a":{"b":1,"c":null}}`, `{"a":{"b":1,"c":{"d":true}}}`}, []string{`{"a":{"c":{"d":true}}}`, `{"a":{"b":1,"c":{}}}`, `{"b":1}`}},
		{"{schema: string}", []string{`{"schema":"x"}`}, []string{`{"schema":1}`}},
		{"{schema: {type: object, properties: {n: {type: integer, minimum: 3}}}}", []string{`{"n":3}`, `{}`, `{"x":1}`}, []string{`{"n":2}`, `[]`}},
		{"{schema: {type: object, required: [l], properties: {l: {type: array, items: {$ref: '#/$defs/x'}}}, $defs: {x: {enum: [1, null]}}}}", []string{`{"l":[1,null]}`}, []string{`{"l":[2]}`, `{}`}},
	} {
		a := shapeOf(t, tt.shape)
		for _, document := range tt.fit {
			if _, err := a.Parse(document); err != nil {
				t.Errorf("%s does not fit %s: %v", document, tt.shape, err)
			}
		}
		for _, document := range tt.fail {
			if v, err := a.Parse(document); err == nil {
				t.Errorf("%s fits %s: %v", document, tt.shape, v)
			}
		}
	}
}

// TestHugeAndDeepAnswers checks that huge and deeply nested answers are rejected at a cost proportional to their
// length.
func TestHugeAndDeepAnswers(t *testing.T) {
	a := shapeOf(t, "{a: list}")
	const n = 1 << 20
	for name, text := range map[string]string{
		"deep": `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}", "open": strings.Repeat(`{"a":`, n/5), "braces": strings.Repeat("{", n),
		"not that deep": `{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
		"long":          `{"a":[` + strings.Repeat("1,", 20*n) + "1]}", "number": `{"a":[` + strings.Repeat("1", n) + "]}",
	} {
		v, err := a.Parse(text)
		if err == nil || len(err.Error()) > 2000 {
			t.Errorf("%s: %v, %.300v", name, v, err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	a, err := stepShape("{shop: bool, why?: [x, y], more: {sizes: list, n?: int}}")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"shop":true,"more":{"sizes":[]}}`)
	f.Add("Well: ```{\"shop\":true,\"why\":\"x\",\"more\":{\"sizes\":[1],\"n\":null}}```")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := a.Parse(text)
		if err != nil {
			return
		}
		if err := a.Accept(v); err != nil {
			t.Errorf("%q was read as %v: %v", text, v, err)
		}
	})
}

// drawn is a random shape with documents that match it and documents that do not.
type drawn struct {
	shape string
	fits  func(t *rapid.T) any
}

func drawShape(t *rapid.T, depth int) drawn {
	kinds := []string{"string", "bool", "int", "float", "list", "choice", "map"}
	if depth == 0 {
		kinds = kinds[:6]
	}
	text := func(t *rapid.T) any { return rapid.String().Draw(t, "text") }
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		return drawn{kind, text}
	case "bool":
		return drawn{kind, func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }}
	case "int":
		return drawn{kind, func(t *rapid.T) any { return rapid.Int().Draw(t, "int") }}
	case "float":
		return drawn{kind, func(t *rapid.T) any { return rapid.Float64Range(-1e9, 1e9).Draw(t, "float") + 0 }} // + 0: no negative zero
	case "list":
		return drawn{kind, func(t *rapid.T) any { return rapid.SliceOf(rapid.String()).Draw(t, "list") }}
	case "choice":
		return drawn{"[yes, 7, true]", func(t *rapid.T) any { return rapid.SampledFrom([]any{"yes", 7, true}).Draw(t, "choice") }}
	}
	return drawObject(t, depth-1)
}

func drawObject(t *rapid.T, depth int) drawn {
	n := rapid.IntRange(1, 4).Draw(t, "fields")
	var text []string
	fields, optional := make([]drawn, n), make([]bool, n)
	for i := range fields {
		fields[i], optional[i] = drawShape(t, depth), rapid.Bool().Draw(t, "optional")
		mark := ""
		if optional[i] {
			mark = "?"
		}
		text = append(text, fmt.Sprintf("f%d%s: %s", i, mark, fields[i].shape))
	}
	return drawn{"{" + strings.Join(text, ", ") + "}", func(t *rapid.T) any {
		object := map[string]any{}
		for i, f := range fields {
			switch {
			case !optional[i] || rapid.Bool().Draw(t, "there"):
				object[fmt.Sprintf("f%d", i)] = f.fits(t)
			case rapid.Bool().Draw(t, "null"):
				object[fmt.Sprintf("f%d", i)] = nil
			}
		}
		return object
	}}
}

// spoil changes the first field of a document so that it no longer matches.
func spoil(shape string, object map[string]any) {
	object["f0"] = map[string]any{"x": "of another type"}
	if strings.HasPrefix(shape, "{f0: {") || strings.HasPrefix(shape, "{f0?: {") {
		object["f0"] = "of another type"
	}
}

// TestRandomShapes checks that documents that match a shape are read unchanged, and that others are rejected.
func TestRandomShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawObject(t, 2)
		a := shapeOf(t, d.shape)
		object := d.fits(t).(map[string]any)
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Parse(string(text))
		if err != nil {
			t.Fatalf("%s does not fit %s: %v", text, d.shape, err)
		}
		if err := a.Accept(v); err != nil || !a.Form.Fits(v) && !strings.Contains(d.shape, "[") {
			t.Fatalf("%s is read, and then does not fit %s: %v", text, d.shape, err)
		}
		again, err := value.AppendJSON(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := canonical(t, again), canonical(t, text); got != want {
			t.Fatalf("%s was read as %s", want, got)
		}
		spoil(d.shape, object)
		if text, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
		if v, err := a.Parse(string(text)); err == nil {
			t.Fatalf("%s fits %s: %v", text, d.shape, v)
		}
		if v, err := value.DecodeJSON(text); err != nil || a.Accept(v) == nil {
			t.Fatalf("%s is accepted for %s: %v", text, d.shape, err)
		}
	})
}

func canonical(t *rapid.T, text []byte) string {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestMockAnswersRandomShapes checks that a strict service accepts the schema that is sent, and that documents
// generated from it match the shape.
func TestMockAnswersRandomShapes(t *testing.T) {
	model, err := mock.StartModel(mock.ModelConfig{Models: []string{"m1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}()
	s := served(t, "model", strings.TrimSuffix(model.URL(), "/v1"), "m1")
	s.Connect(s.HTTP, model.Secret())
	rapid.Check(t, func(r *rapid.T) {
		d := drawObject(r, 2)
		row := stage{
			steps:  "step a: {kind: llm, service: model, prompt: Tell me., answer: " + d.shape + ", stream: " + fmt.Sprint(rapid.Bool().Draw(r, "stream")) + "}",
			more:   []*Service{s},
			change: func(s *engine.Settings) { s.Seed = rapid.Uint64().Draw(r, "seed") },
		}.one(t)
		if row.Outcome != engine.OK || row.Steps[0].Attempts != 1 {
			r.Fatalf("%s: %v after %d attempts: %s", d.shape, row.Outcome, row.Steps[0].Attempts, row.Error)
		}
	})
}
