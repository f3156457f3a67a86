package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

var elapsed = regexp.MustCompile(`"elapsed_ms": \d+`)

// reports are chains that are run alone, with the names of their golden files.
var reports = []struct {
	name   string
	steps  string
	others string
	change func(*engine.Settings)
}{
	{name: "ok", steps: `
step one: {kind: python, call: "{'x': params.n}"}
step two: {kind: connector, target: adds, options: {y: 2}}
step skipped: {kind: emit, event: e, when: "steps.two > 9"}
step each: {kind: for, each: "[1, 2]", as: i, do: {step double: {kind: python, call: i * 2}}}
step last: {kind: emit, event: e, data: {sum: "${steps.two}", text: <b>}}
step after: {kind: emit, event: e, when: "False"}
`, others: "\nconnectors:\n  adds: {kind: python, call: previous.x + options.y}\n"},
	{name: "partial", steps: `
step good: {kind: python, call: 1}
step bad: {kind: python, call: bad(), on_error: continue}
step instead: {kind: python, call: bad(), default: {x: 1}}
`},
	{name: "partial inside", steps: `
step sub: {kind: chain, target: sub}
`, others: "\nchain sub:\n  step bad: {kind: python, call: bad(), on_error: continue}\n  step good: {kind: python, call: 2}\n"},
	{name: "failed", steps: `
step good: {kind: python, call: 1}
step each: {kind: for, each: "[1]", as: i, do: {step bad: {kind: python, call: bad()}}}
step never: {kind: python, call: 2}
`},
	{name: "failed in a group", steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: bad(), parallel: true}
step c: {kind: python, call: 3, parallel: true}
step d: {kind: python, call: 4, depends_on: [b]}
`},
	{name: "stopped", steps: `
step good: {kind: python, call: 1}
step bye: {kind: if, condition: "True", then: {step end: {kind: stop, because: enough}}}
step never: {kind: python, call: 2}
`},
	{name: "private", steps: `
step open: {kind: python, call: 1}
step secret: {kind: http, service: shop, get: /secret, private: true}
step inside: {kind: if, condition: "True", then: {step told: {kind: connector, target: secrets}}}
step chained: {kind: chain, target: sub}
`, others: "\nchain sub:\n  step told: {kind: connector, target: secrets}\nconnectors:\n  secrets: {kind: http, service: shop, get: /secret, private: true}\n"},
}

// TestReports compares the results of chains that are run alone with golden files, in both modes.
func TestReports(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { js(w, 200, `{"pin": 1234}`) })
	for _, tt := range reports {
		for _, mode := range modes {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				w := &Watch{}
				stage{steps: tt.steps, others: tt.others, functions: functions, address: address, change: mode.change, watch: w}.one(t)
				goldenReport(t, tt.name, &w.Report)
			})
		}
	}
}

// goldenReport compares a report, without its duration, with the golden file of its name.
func goldenReport(t *testing.T, name string, r *Report) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("reports", strings.ReplaceAll(name, " ", "_")+".json"), elapsed.ReplaceAllString(b.String(), `"elapsed_ms": 0`))
}

// TestReportOfTimeout checks the report of a chain that timed out on its own clock.
func TestReportOfTimeout(t *testing.T) {
	tests := []struct {
		name, steps string
		change      func(*engine.Settings)
		took        time.Duration
		err         string
	}{
		{"timeout", `
step fast: {kind: wait, for: 20, parallel: true}
step slow: {kind: wait, for: 10m, parallel: true}
step never: {kind: python, call: 1}
`, func(s *engine.Settings) { s.ChainTimeout = 120 * time.Second }, 120 * time.Second, "Chain 'test' execution timed out after 120 seconds"},
		{"timeout of the session", `
step slow: {kind: wait, for: 10m}
`, func(s *engine.Settings) { s.SessionTimeout = 90 * time.Second }, 90 * time.Second, "The session of chain 'test' timed out after 90 seconds"},
		{"timeout of a step", `
step slow: {kind: wait, for: 10m, timeout: 1.5, on_error: continue}
`, nil, 1500 * time.Millisecond, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &Watch{}
				stage{steps: tt.steps, change: tt.change, watch: w}.one(t)
				if got := time.Duration(w.Report.Metadata.ElapsedMS) * time.Millisecond; got != tt.took {
					t.Errorf("it took %v, want %v", got, tt.took)
				}
				text := ""
				if w.Report.Error != nil {
					text = *w.Report.Error
				}
				if text != tt.err {
					t.Errorf("error %q, want %q", text, tt.err)
				}
				goldenReport(t, tt.name, &w.Report)
			})
		})
	}
}

// TestReportOfPanic checks that a panic is a failure with one line of text.
func TestReportOfPanic(t *testing.T) {
	w := &Watch{}
	st := stage{steps: "step a: {kind: python, call: 1}\nstep b: {kind: python, call: 2}", watch: w}
	st.before = func(c *Chain) { c.Body.Steps[0].action = &python{} }
	st.one(t)
	if w.Report.Status != "failed" || w.Report.Error == nil || strings.Contains(*w.Report.Error, "\n") || len(w.Report.Steps) != 2 {
		t.Errorf("report %+v", w.Report)
	}
	if got := fmt.Sprint(w.Report.Steps[0].Status, " ", w.Report.Steps[1].Status); got != "failed canceled" {
		t.Errorf("steps are %s", got)
	}
}
