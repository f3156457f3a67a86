package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/throng-sim/throng"

// rule applies to the packages at and below a path; the rule with the longest path wins. may lists the packages of this
// module that they may import directly; never lists packages that they must not depend on, even indirectly.
type rule struct {
	path  string
	may   []string
	never []string
}

var (
	screens = []string{"fyne.io/fyne", module + "/ui"}
	drivers = []string{"github.com/mattn/go-sqlite3", "github.com/jackc/pgx"}
	below   = append(append([]string{module + "/storage"}, screens...), "github.com/mattn/go-sqlite3")
	noPgx   = append([]string{"github.com/jackc/pgx"}, below...)
	toolkit = "fyne.io/fyne/v2/app" // links OpenGL
	outside = append([]string{toolkit, module + "/storage", module + "/cmd"}, drivers...)
)

// rules are the layers of the design: vocabulary at the bottom, adapters next to it, programs on top.
var rules = []rule{
	{"/engine/batches", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/decision", []string{"/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/agreement", []string{"/engine", "/engine/decision", "/engine/experiment/findings", "/engine/experiment/statistics"}, noPgx},
	{"/engine/surrogate", []string{"/engine/decision", "/engine/experiment/statistics", "/engine/suggest", "/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/spans", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine", []string{"/engine/batches", "/engine/decision", "/engine/spans", "/engine/retrieval", "/engine/workers", "/engine/arrivals", "/engine/duration", "/engine/internal/...", "/engine/figures", "/engine/suggest"}, noPgx},
	{"/engine/retrieval", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/arrivals", []string{"/engine/figures", "/engine/internal/..."}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/criteria", []string{"/engine", "/engine/arrivals", "/engine/internal/..."}, noPgx},
	{"/engine/run/memorybudget", []string{"/engine"}, noPgx},
	{"/engine/run/shards", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/run/pace", []string{"/engine"}, noPgx},
	{"/engine/memories", []string{"/engine"}, noPgx},
	{"/engine/run", []string{"/engine", "/engine/workers", "/engine/arrivals", "/engine/criteria", "/engine/memories", "/engine/run/memorybudget", "/engine/run/pace", "/engine/seconds", "/engine/internal/...", "/engine/suggest"}, noPgx},
	{"/engine/duration", []string{"/engine/internal/doc"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/seconds", []string{"/engine"}, noPgx},
	{"/engine/machine", []string{"/engine"}, noPgx},
	{"/engine/internal", []string{"/engine/internal/...", "/engine/figures", "/engine/suggest"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/suggest", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/figures", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/visible", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/browser", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/codec", []string{"/engine", "/engine/decision", "/engine/retrieval", "/engine/internal/..."}, noPgx},
	{"/engine/fleet", []string{"/engine", "/engine/memories", "/engine/retrieval", "/engine/run", "/engine/run/shards", "/engine/workers", "/engine/codec", "/engine/service/admission", "/engine/service/lending", "/engine/service/merged", "/engine/internal/..."}, noPgx},
	{"/engine/fleet/fleettest", []string{"/engine/fleet"}, noPgx},
	{"/engine/workers", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/fleet/bus", []string{"/engine/fleet", "/engine/scratch", "/engine/internal/..."}, noPgx},
	{"/engine/scratch", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/script", []string{"/engine", "/engine/suggest", "/engine/internal/...", "/engine/script/..."}, noPgx},
	{"/engine/script/value", []string{"/engine/suggest", "/engine/script/meter"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/script/reference", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/script/meter", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/script/known", []string{"/engine/script", "/engine/script/value", "/engine/suggest"}, noPgx},
	{"/engine/pgbouncer", nil, append([]string{module}, noPgx...)},
	{"/engine/service", []string{"/engine", "/engine/batches", "/engine/spans", "/engine/internal/...", "/engine/pgbouncer", "/engine/script/...", "/engine/service/..."}, below},
	{"/engine/service/admission", []string{"/engine", "/engine/internal/..."}, noPgx},
	{"/engine/service/batch", []string{"/engine", "/engine/batches", "/engine/service/redact"}, below},
	{"/engine/service/direct", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/service/mcp", []string{"/engine", "/engine/service"}, below},
	{"/engine/service/lending", []string{"/engine", "/engine/service/admission"}, noPgx},
	{"/engine/service/merged", []string{"/engine"}, noPgx},
	{"/engine/govern", []string{"/engine", "/engine/internal/..."}, noPgx},
	{"/engine/chain", []string{"/engine", "/engine/decision", "/engine/surrogate", "/engine/spans", "/engine/openapi", "/engine/retrieval", "/engine/suggest", "/engine/internal/...", "/engine/script/...", "/engine/service/...", "/engine/chain/..."}, below},
	{"/engine/people", []string{"/engine/suggest", "/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/scenario", []string{"/engine", "/engine/arrivals", "/engine/people", "/engine/criteria", "/engine/openapi", "/engine/view", "/engine/suggest", "/engine/validation", "/engine/internal/...", "/engine/script/...", "/engine/service/...", "/engine/chain/..."}, below},
	{"/engine/experiment", []string{"/engine", "/engine/chain", "/engine/chain/expr", "/engine/criteria", "/engine/experiment/design", "/engine/experiment/draft", "/engine/scenario", "/engine/script", "/engine/script/value", "/engine/suggest", "/engine/validation", "/engine/view", "/engine/internal/..."}, below},
	{"/engine/experiment/nearest", []string{"/engine/experiment/findings", "/engine/experiment/statistics"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/experiment/measure", []string{"/engine", "/engine/criteria", "/engine/experiment", "/engine/script", "/engine/script/value"}, below},
	{"/engine/survey", []string{"/engine", "/engine/experiment/findings", "/engine/experiment/statistics", "/engine/internal/doc", "/engine/internal/scale", "/engine/outcomes"}, noPgx},
	{"/engine/survey/questionnaire", []string{"/engine", "/engine/survey", "/engine/scenario", "/engine/internal/doc"}, below},
	{"/engine/experiment/statistics", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/experiment/sensitivity", []string{"/engine/experiment/statistics"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/experiment/findings", []string{"/engine/experiment/statistics", "/engine/experiment/sensitivity", "/engine/figures"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/experiment/design", []string{"/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/scenario/complete", []string{"/engine/chain/outputs", "/engine/view", "/engine/suggest", "/engine/script/known", "/engine/script/reference"}, noPgx},
	{"/engine/health", []string{"/engine", "/engine/workers"}, noPgx},
	{"/engine/outcomes", []string{"/engine"}, noPgx},
	{"/engine/marks", []string{"/engine"}, noPgx},
	{"/engine/view", []string{"/engine", "/engine/decision", "/engine/batches", "/engine/workers", "/engine/duration", "/engine/figures", "/engine/health", "/engine/outcomes", "/engine/internal/..."}, noPgx},
	{"/engine/calibrate", []string{"/engine"}, noPgx},
	{"/engine/mock", []string{"/engine", "/engine/browser", "/engine/mock/batchmock", "/engine/mock/fraction", "/engine/mock/leaning", "/engine/mock/quota", "/engine/mock/toolmock", "/engine/mock/wire", "/engine/mock/messages", "/engine/internal/..."}, noPgx},
	{"/engine/mock/toolmock", []string{"/engine/mock/wire", "/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/messages", []string{"/engine/mock/toolmock"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/quota", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/fraction", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/leaning", []string{"/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/batchmock", []string{"/engine/internal/draw"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/wire", []string{"/engine/browser", "/engine/internal/..."}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/mock/apimock", []string{"/engine/mock/wire", "/engine/openapi/...", "/engine/openapi", "/engine/internal/..."}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/openapi/sample", []string{"/engine/openapi", "/engine/internal/..."}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/openapi", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/importer", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/importer/exchange", []string{"/engine/internal/charset"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/importer/journey", []string{"/engine/importer", "/engine/importer/exchange", "/engine/service/redact"}, noPgx},
	{"/engine/importer/fromopenapi", []string{"/engine/importer", "/engine/openapi"}, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/experiment/draft", []string{"/engine/internal/doc", "/engine/view"}, append([]string{module + "/engine/scenario"}, noPgx...)},
	{"/engine/compare", []string{"/engine", "/engine/experiment/statistics", "/engine/internal/..."}, noPgx},
	{"/engine/validation", []string{"/engine", "/engine/experiment/findings", "/engine/experiment/statistics", "/engine/suggest", "/engine/validation/distance", "/engine/internal/doc"}, noPgx},
	{"/engine/validation/distance", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/engine/voices", []string{"/engine", "/engine/experiment/findings"}, noPgx},
	{"/engine/forecast", []string{"/engine"}, noPgx},
	{"/engine/audit", []string{"/engine"}, noPgx},
	{"/engine/enginetest", []string{"/engine", "/engine/memories", "/engine/retrieval", "/engine/run", "/engine/internal/..."}, noPgx},
	{"/engine/enginetest/proxy", nil, append([]string{module + "/engine$"}, noPgx...)},
	{"/storage", []string{"/engine", "/engine/decision", "/engine/memories", "/engine/workers", "/engine/codec", "/engine/experiment/findings", "/engine/experiment/nearest", "/engine/health", "/engine/marks", "/engine/outcomes", "/engine/view", "/engine/machine", "/engine/pgbouncer", "/engine/retrieval", "/engine/visible", "/storage/..."}, screens},
	{"/storage/report", []string{"/engine", "/engine/agreement", "/engine/experiment/findings", "/engine/experiment/nearest", "/engine/health", "/engine/outcomes", "/engine/seconds", "/engine/validation", "/engine/voices", "/engine/view", "/engine/visible", "/storage"}, append(append([]string{}, screens...), drivers...)},
	{"/ui", []string{"/engine", "/engine/workers", "/engine/duration", "/engine/view", "/engine/health", "/engine/seconds", "/engine/marks", "/engine/outcomes", "/engine/validation", "/engine/calibrate", "/engine/compare", "/engine/visible", "/engine/importer", "/engine/scenario/complete", "/ui/...", "/assets"}, outside},
	{"/ui/study", []string{"/engine", "/engine/agreement", "/engine/experiment/findings", "/engine/survey", "/engine/validation", "/engine/view", "/engine/voices", "/ui/internal/..."}, outside},
	{"/ui/experiments", []string{"/engine", "/engine/figures", "/engine/view", "/engine/experiment/findings", "/engine/experiment/nearest", "/engine/experiment/statistics", "/ui/internal/..."}, append([]string{module + "/engine/experiment$"}, outside...)},
	{"/ui/experiments/designer", []string{"/engine", "/engine/experiment/draft", "/engine/view", "/ui/experiments", "/ui/internal/..."}, append([]string{module + "/engine/experiment$"}, outside...)},
	{"/ui/internal", []string{"/engine", "/engine/view", "/engine/health", "/engine/scenario/complete", "/ui/internal/..."}, outside},
	{"/ui/internal/chart", []string{"/engine/figures", "/ui/internal/..."}, append([]string{module + "/engine$"}, outside...)},
	{"/ui/internal/plot", []string{"/engine/experiment/findings", "/engine/experiment/statistics", "/engine/figures", "/ui/internal/..."}, append([]string{module + "/engine$", module + "/engine/experiment$"}, outside...)},
	{"/ui/internal/pen", nil, append([]string{module + "/engine"}, outside...)},
	{"/ui/internal/widgets", []string{"/ui/internal/..."}, append([]string{module + "/engine"}, outside...)},
	{"/assets", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/awake", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/power", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/filedialog", []string{"/ui"}, drivers},
	{"/cmd/internal/cmdline", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/opened", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/crash", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/logs", []string{"/engine/visible"}, append(append([]string{module + "/engine$"}, screens...), drivers...)},
	{"/cmd/internal/notice", []string{"/engine", "/engine/run", "/engine/view"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/licenses", []string{"/assets"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/consent", []string{"/engine"}, append(append([]string{module + "/storage"}, screens...), drivers...)},
	{"/cmd/internal/control", []string{"/engine", "/engine/view", "/engine/health", "/engine/workers"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/telemetry", []string{"/engine", "/engine/spans", "/engine/view", "/engine/browser", "/storage"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/dash", []string{"/engine", "/engine/view", "/engine/health", "/engine/visible", "/cmd/internal/control"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/app", []string{"/engine/...", "/storage/...", "/assets", "/cmd/internal/app/...", "/cmd/internal/awake", "/cmd/internal/consent", "/cmd/internal/power", "/cmd/internal/control", "/cmd/internal/crash", "/cmd/internal/telemetry", "/cmd/internal/logs", "/cmd/internal/notice"}, screens},
	{"/cmd/internal/app/runbundle", []string{"/engine", "/engine/audit", "/engine/scenario", "/storage", "/storage/sqlite", "/storage/sqlite/transfer", "/cmd/internal/app/about", "/cmd/internal/app/config", "/cmd/internal/app/review"}, screens},
	{"/cmd/internal/app/about", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/app/schedule", []string{"/engine", "/cmd/internal/awake", "/storage/sqlite/queue"}, screens},
	{"/cmd/internal/app/recorder", []string{"/engine", "/engine/importer/exchange", "/engine/service"}, append([]string{module + "/storage"}, screens...)},
	{"/cmd/internal/app/secrets", []string{"/engine/...", "/cmd/internal/app/about", "/cmd/internal/crash"}, append([]string{module + "/storage"}, screens...)},
	{"/cmd/internal/app/config", []string{"/engine/...", "/storage/postgres", "/cmd/internal/app/about", "/cmd/internal/app/secrets", "/cmd/internal/notice", "/cmd/internal/telemetry"}, screens},
	{"/cmd/internal/app/authoring", []string{"/engine/...", "/assets", "/cmd/internal/app/config", "/cmd/internal/app/secrets", "/cmd/internal/consent"}, screens},
	{"/cmd/internal/app/experiments/steering", []string{"/cmd/internal/app/authoring"}, screens},
	{"/cmd/internal/desk", []string{"/engine/...", "/storage/...", "/assets", "/cmd/internal/app/...", "/cmd/internal/crash", "/cmd/internal/desk/experimenting", "/cmd/internal/desk/design", "/cmd/internal/desk/team", "/cmd/internal/cmdline", "/ui/...", "/cmd/internal/telemetry", "/cmd/internal/control", "/cmd/internal/logs", "/cmd/internal/notice"}, []string{toolkit}},
	{"/cmd/internal/desk/design", []string{"/engine/experiment", "/engine/experiment/draft", "/engine/scenario", "/engine/view", "/cmd/internal/app", "/cmd/internal/app/authoring", "/cmd/internal/app/experiments", "/ui/experiments/designer"}, []string{toolkit}},
	{"/cmd/internal/desk/team", []string{"/engine", "/engine/workers", "/cmd/internal/app", "/cmd/internal/app/crew", "/ui/fleet"}, []string{toolkit}},
	{"/cmd/internal/desk/experimenting", []string{"/engine", "/engine/experiment/...", "/engine/experiment", "/engine/scenario", "/storage", "/cmd/internal/app/...", "/cmd/internal/app", "/ui/experiments"}, []string{toolkit}},
	{"/cmd/internal/film", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/faults", []string{"/engine/...", "/storage/...", "/cmd/internal/app/..."}, screens},
	{"/cmd/internal/faults/network", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/prove", []string{"/engine/...", "/storage/...", "/cmd/internal/app/..."}, screens},
	{"/cmd/internal/bundle", []string{"/assets"}, append(append([]string{}, screens...), drivers...)},
	{"/cmd/internal/house", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/language", nil, append(append([]string{module + "/engine"}, screens...), drivers...)},
	{"/cmd/internal/window", nil, append(append([]string{}, screens...), drivers...)},
	{"/cmd/throngbench", []string{"/engine/...", "/storage/...", "/assets", "/cmd/internal/app/...", "/cmd/internal/control"}, screens},
	{"/cmd/throng", []string{"/assets", "/cmd/internal/app/...", "/cmd/internal/desk", "/ui", "/cmd/internal/opened", "/cmd/internal/filedialog", "/cmd/internal/cmdline"}, nil},
	{"/cmd/throngctl", []string{"/engine/...", "/storage/...", "/assets", "/cmd/throngctl/internal/...", "/cmd/internal/app/...", "/cmd/internal/consent", "/cmd/internal/control", "/cmd/internal/crash", "/cmd/internal/dash", "/cmd/internal/prove", "/cmd/internal/telemetry", "/cmd/internal/logs", "/cmd/internal/notice"}, screens},
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		var r *rule
		for i := range rules {
			if within(path, rules[i].path) && (r == nil || len(rules[i].path) > len(r.path)) {
				r = &rules[i]
			}
		}
		if r == nil {
			t.Errorf("no rule for %s: add one to this test", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			own, ok := strings.CutPrefix(imported, module)
			if ok && !allowed(own, r.may) {
				t.Errorf("%s imports %s; it may import %v", path, own, r.may)
			}
		}
		for _, dep := range p.Deps {
			for _, never := range r.never {
				exact, only := strings.CutSuffix(never, "$")
				if dep == exact || !only && within(dep, never) {
					t.Errorf("%s must not depend on %s", path, dep)
				}
			}
		}
	}
}

// TestTerminalLinksNoWindow checks that throngctl runs without a display.
func TestTerminalLinksNoWindow(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != module+"/cmd/throngctl" {
			continue
		}
		for _, dep := range p.Deps {
			if strings.Contains(dep, "/gl/") || strings.Contains(dep, "glfw") {
				t.Errorf("throngctl links %s", dep)
			}
		}
		return
	}
	t.Error("throngctl is missing")
}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

// within reports whether path is at or below dir.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// allowed reports whether an import is among patterns. A pattern that ends in /... includes the packages below it.
func allowed(path string, patterns []string) bool {
	for _, p := range patterns {
		if dir, below := strings.CutSuffix(p, "/..."); path == p || below && within(path, dir) {
			return true
		}
	}
	return false
}
