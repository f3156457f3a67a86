package chain

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

const megabyte = `
def megabytes(n):
    return "x" * (n << 20)
`

// A session that keeps more and more memory fails, and only that session.
func TestSessionHoldsOnToTooMuch(t *testing.T) {
	for name, c := range map[string]struct{ steps, path string }{
		"what functions give": {"step f: {kind: for, each: range(1000), as: i, do: {step a: {kind: python, call: megabytes(10)}}}", "f[7].a"},
		"events":              {"step f: {kind: while, condition: 'True', do: {step a: {kind: emit, event: e, data: '${megabytes(10)}'}}}", "f[7].a"},
		"notes":               {"step f: {kind: for, each: range(1000), as: i, do: {step a: {kind: remember, note: '${megabytes(3)}', keep: 1}}}", "f[43].a"},
		"parallel steps": {
			"step f: {kind: for, each: range(1000), as: i, do: {step a: {kind: python, parallel: true, call: megabytes(5)}, step b: {kind: python, parallel: true, call: megabytes(5)}}}", "f[7].a",
		},
		"one of those": {
			"step a: {kind: python, parallel: true, call: megabytes(1)}\nstep b: {kind: python, parallel: true, call: megabytes(30)}\n" +
				"step c: {kind: python, parallel: true, call: megabytes(1)}", "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sequential := range []bool{false, true} {
				st := stage{steps: c.steps, functions: megabyte, change: func(s *engine.Settings) { s.SequentialSteps = sequential }}
				row := st.run(t)[0]
				if row.Outcome != engine.Failed || row.Class != engine.Script || row.Path != c.path || !strings.Contains(row.Error, "holds more than") {
					t.Errorf("sequential %v: got %v %v at %s: %s", sequential, row.Outcome, row.Class, row.Path, row.Error)
				}
			}
		})
	}
}

func TestSessionHoldsOnToTooManyAnswers(t *testing.T) {
	body := `{"text": "` + strings.Repeat("x", 8<<20) + `"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	st := stage{
		steps:   "step f: {kind: for, each: range(1000), as: i, do: {step a: {kind: http, service: shop, get: /}}}",
		address: server.URL,
	}
	row := st.run(t)[0]
	if row.Outcome != engine.Failed || row.Path != "f[8].a" {
		t.Errorf("got %v at %s: %s", row.Outcome, row.Path, row.Error)
	}
}

func TestAgentRemembersTooMuch(t *testing.T) {
	for name, c := range map[string]struct {
		steps, failed string
	}{
		"a field":       {"step a: {kind: remember, set: {x: '${megabytes(5)}'}}", "a"},
		"fields":        {"step a: {kind: remember, set: {x: '${megabytes(2)}'}}\nstep b: {kind: remember, set: {y: '${megabytes(3)}'}}", "b"},
		"a field again": {"step a: {kind: remember, set: {x: '${megabytes(3)}'}}\nstep b: {kind: remember, set: {x: '${megabytes(3)}'}}", ""},
		"notes":         {"step f: {kind: for, each: range(10), as: i, do: {step a: {kind: remember, note: '${megabytes(1)}'}}}", "f[3].a"},
		"notes that go": {"step f: {kind: for, each: range(10), as: i, do: {step a: {kind: remember, note: '${megabytes(1)}', keep: 2}}}", ""},
		"many fields":   {"step a: {kind: remember, set: {a: '${megabytes(3)}', b: '${megabytes(3)}'}}", "a"},
		"a message":     {"step a: {kind: say, to: [], text: '${megabytes(1)}'}", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			row := stage{steps: c.steps, functions: megabyte}.run(t)[0]
			if row.Path != c.failed || (row.Outcome == engine.OK) != (c.failed == "") {
				t.Errorf("got %v at %q: %s", row.Outcome, row.Path, row.Error)
			}
			if c.failed != "" && row.Class != engine.Script {
				t.Errorf("got class %v", row.Class)
			}
		})
	}
}

// The texts in the records of a session are limited.
func TestLongWords(t *testing.T) {
	for _, step := range []string{
		"{kind: stop, because: '${megabytes(1)}'}", "{kind: emit, event: '${megabytes(1)}'}", "{kind: python, call: fail(megabytes(20))}",
		"{kind: wait, for: '${megabytes(20)}'}", "{kind: wait, for: '${[megabytes(20)] * 100000}'}",
		"{kind: for, each: megabytes(20), as: i, do: {step b: {kind: emit, event: e}}}",
	} {
		row := stage{steps: "step a: " + step, functions: megabyte}.run(t)[0]
		if row.Outcome != engine.Failed || row.Class != engine.Script || len(row.Error)+len(row.Because) > 20_000 || len(row.Events) > 0 {
			t.Errorf("%s: got %v %v, an error of %d bytes, %d events", step, row.Outcome, row.Class, len(row.Error), len(row.Events))
		}
	}
}

// Headers count as kept data.
func TestSessionHoldsOnToTooManyHeaders(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 900<<10))
	}))
	defer server.Close()
	st := stage{
		steps:   "step f: {kind: for, each: range(1000), as: i, do: {step a: {kind: http, service: shop, get: /}}}",
		address: server.URL,
	}
	row := st.run(t)[0]
	if row.Outcome != engine.Failed || !strings.Contains(row.Error, "holds more than") {
		t.Errorf("got %v at %s: %s", row.Outcome, row.Path, row.Error)
	}
}

// The parts of a request are limited before they are joined.
func TestRequestBombs(t *testing.T) {
	long := strings.Repeat("k", 100_000)
	for name, c := range map[string]struct{ step, says string }{
		"a name many times":      {"query: {" + long + ": '${list(range(100000))}'}, get: /", "more than 32 MB of names and values"},
		"a form":                 {"form: {" + long + ": '${list(range(100000))}'}, post: /", "more than 32 MB of names and values"},
		"a path":                 {"get: '${megabytes(1)}'", "a path of more than 64 kB"},
		"a path of pieces":       {"get: '/" + strings.Repeat("${megabytes(20)}", 400) + "'", "a path of more than 64 kB"},
		"a header":               {"get: /, headers: {X-A: '${megabytes(1)}'}", "the header X-A has 1.0 MB, more than 64 kB"},
		"a body of many":         {"post: /, json: ['${megabytes(20)}', '${megabytes(20)}']", "JSON text too long"},
		"a body of a long text":  {"post: /, body: 'a${megabytes(20)}${megabytes(20)}'", "too much data"},
		"a body that is escaped": {"post: /, json: '${chr(1) * (20 << 20)}'", "JSON text too long"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }))
			defer server.Close()
			row := stage{steps: "step a: {kind: http, service: shop, " + c.step + "}", functions: megabyte, address: server.URL}.run(t)[0]
			if row.Class != engine.Script || !strings.Contains(row.Error, c.says) {
				t.Errorf("got %v: %.300s, want %q", row.Class, row.Error, c.says)
			}
		})
	}
}
