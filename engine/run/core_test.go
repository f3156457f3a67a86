package run

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// coreImports lists the packages that the core may use. None of them has a clock, goroutines, locks or files, except time:
// of it the core may use only the names in clockless.
var coreImports = []string{
	"github.com/throng-sim/throng/engine", "github.com/throng-sim/throng/engine/arrivals", "github.com/throng-sim/throng/engine/criteria",
	"github.com/throng-sim/throng/engine/run/pace", "github.com/throng-sim/throng/engine/workers", "github.com/throng-sim/throng/engine/memories",
	"cmp", "encoding/json", "errors", "fmt", "maps", "math", "slices", "strconv", "strings", "time",
	"github.com/throng-sim/throng/engine/internal/bitset", "github.com/throng-sim/throng/engine/internal/stats", "github.com/throng-sim/throng/engine/seconds",
}

// timeNames lists what the core may use of package time, in addition to the methods of times.
var timeNames = []string{"Time", "Duration", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}

// forbiddenNames lists names of package engine, and fields of Config, that reach outside the core.
var forbiddenNames = []string{
	"preciseNow", "processStart", "node", "Run", "worker", "cycle", "Session",
	"Program", "Journal", "Governor", "Services", "Probe", "Ledger", "Recording", "Prior", "Hooks", "Tracer", "Content", "Trail", "Barrier", "Mock", "Crashed",
}

// TestCoreIsPure checks that the files of the core use no clock, goroutines, channels, locks or I/O.
func TestCoreIsPure(t *testing.T) {
	files, err := filepath.Glob("core*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	if len(files) < 10 {
		t.Fatalf("only %d files of the core found", len(files))
	}
	for _, file := range files {
		for _, problem := range impurities(t, file, nil) {
			t.Error(problem)
		}
	}
}

// TestImpurityIsFound checks that the test above can fail.
func TestImpurityIsFound(t *testing.T) {
	for _, source := range []string{
		`import "sync"; var mu sync.Mutex`,
		`import "time"; func f() time.Time { return time.Now() }`,
		`func f() { go f() }`,
		`func f(c chan int) { }`,
		`func f(c *core) { c.cfg.Governor.Reset() }`,
		`func f(c *core) { c.cfg.Hooks.Barrier(1) }`,
		`func f() { _ = preciseNow() }`,
	} {
		if got := impurities(t, "x.go", "package engine\n"+source); len(got) == 0 {
			t.Errorf("no impurity found in %s", source)
		}
	}
}

func impurities(t *testing.T, file string, source any) (all []string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(at ast.Node, what string) { all = append(all, set.Position(at.Pos()).String()+": "+what) }
	for _, i := range f.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(coreImports, path) {
			add(i, "imports "+path)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			add(n, "has goroutines or channels")
		case *ast.FuncDecl:
			if n.Name.Name == "pure" { // it removes what reaches outside
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" {
				if !slices.Contains(timeNames, n.Sel.Name) {
					add(n, "uses time."+n.Sel.Name)
				}
			} else if inner, ok := n.X.(*ast.SelectorExpr); ok && inner.Sel.Name == "cfg" && slices.Contains(forbiddenNames, n.Sel.Name) {
				add(n, "reaches for Config."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && slices.Contains(forbiddenNames, name.Name) {
				add(n, "calls "+name.Name)
			}
		case *ast.StarExpr:
			if name, ok := n.X.(*ast.Ident); ok && slices.Contains(forbiddenNames, name.Name) {
				add(n, "holds a *"+name.Name)
			}
		}
		return true
	})
	return all
}

// TestInjectionIsDurableBeforeItIsRead checks that no cycle begins while an injection for it may still be lost. Otherwise
// the journal could hold a session that read it, without the injection itself.
func TestInjectionIsDurableBeforeItIsRead(t *testing.T) {
	cfg := Config{Agents: 3, Settings: engine.DefaultSettings()}
	cfg.Settings.Limit, cfg.Settings.Cycles = 3, 2
	at := time.Unix(1_900_000_000, 0)
	c := newCore(cfg, input{At: at}, probes{})
	var waits []ticket
	step := func(e event) (began bool) {
		for _, f := range c.Step(e, input{At: at}) {
			switch f := f.(type) {
			case beginCycle:
				began = true
			case writeRow:
				if f.ticket.kind != noTicket {
					waits = append(waits, f.ticket)
				}
			}
		}
		return began
	}
	step(pauseOrder{"me", "lunch"})
	step(started{})
	for _, w := range waits {
		step(rowWritten{ticket: w})
	}
	waits = nil
	step(injectOrder{engine.Message{Body: []byte(`"hi"`)}, "all", "me", 1})
	if len(waits) != 1 || c.memory.injected == nil {
		t.Fatalf("%d rows to wait for, injected %v", len(waits), c.memory.injected)
	}
	if step(resumeOrder{"me"}) {
		t.Error("the cycle begins before the injection is durable")
	}
	if !step(rowWritten{ticket: waits[0]}) {
		t.Error("the cycle does not begin once the injection is durable")
	}
}
