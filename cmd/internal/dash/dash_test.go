package dash

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-runewidth"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

var update = flag.Bool("update", false, "rewrite the golden texts")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	goleak.VerifyTestMain(m)
}

var noon = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

// busy returns the status of a busy run.
func busy() *view.Status {
	left, most, clients := 5405.0, 60, 41
	return &view.Status{
		Progress: view.Progress{
			Run: "20300301-113000-abcd", At: noon, Phase: "running", Cycle: 11, Cycles: 144, Sessions: 4211, Planned: 53568, CycleSeconds: 12.4,
			LastCycle: &view.Cycle{Seconds: 43}, Failed: 17, SessionRate: 84.2, Elapsed: 1800.4, Remaining: &left, Limit: 38, InFlight: 36,
			Requests: 21344, RateLimited: 53, Latency: &view.Latency{Mean: 1.2, P50: 0.9, P95: 2.4, P99: 4.1, Max: 9},
		},
		Totals: view.Totals{
			Retries: 64,
			Errors: []engine.ErrorNote{
				{Class: engine.ServerError, Count: 14, Cycle: 10, Agent: 8, Name: "shopper-8", Path: "checkout.order", Message: "500 Internal Server Error: the database is\x1b[2J away"},
				{Class: engine.Timeout, Count: 3, Cycle: 11, Agent: 200, Path: "enter", Message: "no answer within 10s"},
			},
		},
		Steering: view.Steering{
			Floor: 1, Ceiling: 100, Governor: "adaptive", SteeredBy: "resources", Steered: "50 → 38: CPU 86% for 4s, above 80%",
			SteeredAt: noon.Add(-time.Minute), Breaker: "closed",
		},
		Title: "Marketplace shoppers", CycleEnded: 119, CycleTotal: 372, Checkpoints: 6, LastCheckpoint: noon.Add(-2 * time.Minute), SimTime: noon,
		Services: []engine.ServiceState{
			{Name: "shop", Kind: "http", InFlight: 31, Bound: 200, LimiterState: engine.LimiterState{Refused: 12}},
			{
				Name: "model", Kind: "llm", InFlight: 5, Bound: 50, LimiterState: engine.LimiterState{Waiting: 3, Rate: 8, MaxRate: 50, Refused: 41},
				Breaker: engine.BreakerOpen, BreakerWhy: "10 failures in a row",
			},
		},
		Budget: &view.Budget{Limit: view.Amounts{Cost: 5}, Spent: view.Amounts{Cost: 1.25, Tokens: 120_000, Requests: 9000}},
		Oldest: []engine.Activity{
			{Place: engine.Place{Agent: 4}, Name: "shopper-4", Began: noon.Add(-9 * time.Second), Path: "fill_cart[2].add_cart", Service: "shop"},
			{Place: engine.Place{Agent: 371}, Began: noon.Add(-800 * time.Millisecond), Path: "think", Service: "model", ThrottledBy: "rate limiter"},
		},
		Sink:        &view.Sink{Target: "db.example.com:5432/results", Words: "db.example.com:5432/results: 512 rows wait here, 900/s, 1s left"},
		Connections: &view.Connections{Open: 6, Size: 8, InUse: 5, Idle: 1, Waiting: 2, Server: &clients, Max: &most},
		Health: []health.Finding{
			{Metric: "cycle time", Level: health.Healthy, Value: "41s"},
			{Metric: "latency", Level: health.Warning, Value: "1.4s", Advice: "look at the slowest step: queries, network"},
			{Metric: "CPU", Level: health.Critical, Value: "93%", Advice: "lower the limit, or close other programs"},
			{Metric: "writes"},
		},
		Overhead: &view.Overhead{
			SessionSeconds: map[string]float64{"services": 700, "refusals": 200, "engine": 20, "journal": 80},
			Limit:          "the backend", Why: "The backend is the limit: services took 70% of the sessions' time", Advice: "look at the slowest step: nothing here waits for a place",
		},
		LastSecond: &view.Second{
			At: noon, SessionRate: 84, RequestRate: 412, WriteRate: 950, CPU: 93, ProcessCPU: 120, Memory: 212e6, MemoryLeft: 9e9, MachineTotal: 16e9,
			Latency: &view.Latency{P95: 2.2},
		},
		Changes: []engine.ChangeRow{
			{At: noon.Add(-5 * time.Minute), What: "max-concurrent", Old: "60", New: "50", Who: "terminal (ann@77)", Why: "the shop's own batch begins"},
			{At: noon.Add(-time.Minute), What: "max-concurrent", Old: "50", New: "38", Who: "resources", Why: "50 → 38: CPU 86% for 4s, above 80%"},
		},
		Steps: []view.Step{
			{Path: "enter", Ran: 4211, Requests: 4220, Retries: 9, Errors: 3, Latency: &view.Latency{Mean: 0.1, P50: 0.09, P95: 0.2}},
			{Path: "fill_cart.add_cart", Ran: 9000, Requests: 9031, Retries: 31, RateLimited: 12, Latency: &view.Latency{Mean: 0.3, P50: 0.25, P95: 0.8}},
			{Path: "decide", Ran: 4211},
		},
	}
}

// seen returns the picture of a run after 2 minutes.
func seen(s *view.Status) *picture {
	p := &picture{status: s, own: true}
	for i := range 120 {
		then := *s
		second := *s.LastSecond
		second.At = noon.Add(time.Duration(i-119) * time.Second)
		second.CPU, second.SessionRate = 50+40*math.Sin(float64(i)/9), float64(20+i%60)
		if i%17 == 0 {
			second.Latency = nil
		}
		then.LastSecond = &second
		p.recent.add(&then)
	}
	return p
}

func text(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.text(), " ") + "\n")
	}
	return b.String()
}

// TestPictures compares pictures of runs with testdata.
func TestPictures(t *testing.T) {
	calm := &view.Status{
		Progress: view.Progress{Run: "20300301-115900-wxyz", At: noon, Phase: "paused", Reason: "lunch", Sessions: 3, Elapsed: 61, Limit: 5},
		Totals:   view.Totals{Inexact: "inexact since cycle 0: told"},
		Steering: view.Steering{Governor: "manual", Breaker: "open", BreakerWhy: "half of the cycle failed"},
		Title:    "市場の買い物客", CycleEnded: 3, CycleTotal: 20, Health: []health.Finding{{Metric: "CPU", Level: health.Good}},
		LastSecond: &view.Second{At: noon, CPU: 12, Memory: 30e6, MemoryLeft: 9e9, MachineTotal: 16e9}, Stall: &view.Stall{Since: noon.Add(-time.Minute), Why: "they wait for shop"},
	}
	for _, c := range []struct {
		name          string
		status        *view.Status
		view          page
		width, height int
	}{
		{"busy", busy(), overview, 80, 24},
		{"busy", busy(), overview, 120, 40},
		{"busy", busy(), overview, 200, 50},
		{"busy", busy(), overview, 50, 16},
		{"calm", calm, overview, 80, 24},
		{"sessions", busy(), sessions, 80, 24},
		{"steps", busy(), chain, 80, 24},
		{"log", busy(), logbook, 80, 24},
		{"help", busy(), help, 80, 24},
	} {
		p := seen(c.status)
		p.view, p.said = c.view, span{"limit 34 → 38", strong}
		lines := p.draw(c.width, c.height)
		if len(lines) != c.height {
			t.Errorf("%s at %d×%d has %d lines", c.name, c.width, c.height, len(lines))
		}
		for y, l := range lines {
			if l.width() != c.width || strings.ContainsRune(l.text(), '\x1b') {
				t.Errorf("%s at %d×%d: line %d is %d wide: %q", c.name, c.width, c.height, y, l.width(), l.text())
			}
		}
		path := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", c.name, c.width, c.height))
		if *update {
			if err := os.WriteFile(path, []byte(text(lines)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(lines); got != string(want) {
			t.Errorf("%s (-update rewrites it)\n%s", path, got)
		}
	}
}

// TestAnySize checks that a picture of any size fills the screen exactly.
func TestAnySize(t *testing.T) {
	p := seen(busy())
	for _, v := range []page{overview, sessions, chain, logbook, help} {
		p.view = v
		for width := 1; width < 220; width += 3 {
			for height := 1; height < 60; height += 7 {
				lines := p.draw(width, height)
				bad := slices.IndexFunc(lines, func(l line) bool { return l.width() != width })
				if len(lines) != height || bad >= 0 {
					t.Fatalf("view %d at %d×%d: %d lines, line %d is wrong", v, width, height, len(lines), bad)
				}
			}
		}
	}
	if got := text((&picture{}).draw(80, 24)); !strings.Contains(got, "connecting to the run") {
		t.Errorf("before the first data: got %q", got)
	}
}

// TestImportantRowsStay checks that a small terminal shows critical findings and failures.
func TestImportantRowsStay(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {72, 14}, {60, 12}, {40, 12}} {
		got := text(seen(busy()).draw(size[0], size[1]))
		for _, want := range []string{"running", "in flight", "failed", "critical"} {
			if !strings.Contains(got, want) {
				t.Errorf("%d×%d has no %q:\n%s", size[0], size[1], want, got)
			}
		}
	}
}

// TestTones checks that there are no colors and non-ASCII characters if they are disabled.
func TestTones(t *testing.T) {
	var color, mono, ascii strings.Builder
	for _, l := range seen(busy()).draw(120, 40) {
		color.WriteString(l.encode(Look{}))
		mono.WriteString(l.encode(Look{Mono: true}))
		ascii.WriteString(l.encode(Look{Mono: true, ASCII: true}))
	}
	if !strings.Contains(color.String(), "\x1b[1;31m✖ critical ") {
		t.Error("critical values are not red")
	}
	for _, n := range []string{"\x1b[3", "\x1b[1;3"} {
		if strings.Contains(mono.String(), n) {
			t.Errorf("%q is in the picture without colors", n)
		}
	}
	if strings.ContainsFunc(ascii.String(), func(r rune) bool { return r > 126 }) || strings.Count(ascii.String(), "?") != 1 { // the help's
		t.Errorf("non-ASCII characters: %q", ascii.String())
	}
	if !strings.Contains(ascii.String(), "X critical ") {
		t.Error("critical values are not named")
	}
}

func TestLookOf(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Look
	}{
		{map[string]string{}, Look{}},
		{map[string]string{"NO_COLOR": "1", "LANG": "en_GB.UTF-8"}, Look{Mono: true}},
		{map[string]string{"LANG": "C"}, Look{ASCII: true}},
		{map[string]string{"LANG": "C", "LC_ALL": "C.utf8"}, Look{}},
	} {
		if got := LookOf(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 5, "abc  "}, {"abcdef", 4, "abc…"}, {"市場の", 6, "市場の"}, {"市場の客", 6, "市場… "}, {"市場", 2, "… "}, {"abc", 1, "…"}, {"", 2, "  "}} {
		got := say(plain, c.text).fit(c.width).text()
		if got != c.want || runewidth.StringWidth(got) != c.width {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("the quick  brown fox jumps over", 10, 3)
	if want := []string{"the quick", "brown fox", "jumps over"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := wrap("one two three four", 7, 2); !slices.Equal(got, []string{"one two", "three four"}) {
		t.Errorf("the last line has the rest: %q", got)
	}
	if got := wrap("", 7, 2); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestSpark(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		width  int
		most   float64
		want   string
	}{
		{[]float64{0, 50, 100}, 5, 100, "  ▁▅█"},
		{[]float64{0, 1, 2, 3}, 2, 0, "▆█"},
		{[]float64{0, nan, 4}, 3, 0, "▁ █"},
		{[]float64{0, 0}, 2, 0, "▁▁"},
		{nil, 3, 0, "   "},
		{[]float64{200}, 1, 100, "█"},
	} {
		if got := spark(c.values, c.width, c.most); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

// TestLimitKeys checks that keys in quick succession are one order, and that a returns to the governor.
func TestLimitKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Dash{orders: make(chan order, 16), settle: time.NewTimer(time.Hour)}
		d.picture.status = busy()
		for _, k := range "+++-" {
			d.press(int(k))
		}
		if len(d.orders) != 0 || d.picture.said.text != "limit 45" { // 38, 41, 45, 49, 45
			t.Errorf("%d orders, said %q", len(d.orders), d.picture.said.text)
		}
		began := time.Now()
		<-d.settle.C
		d.sendLimit()
		d.sendLimit()
		if got := time.Since(began); len(d.orders) != 1 || got != settleAfter {
			t.Errorf("%d orders after %v", len(d.orders), got)
		}
		d.press('a')
		if len(d.orders) != 2 {
			t.Errorf("%d orders, want one more", len(d.orders))
		}
	})
}

func TestTyped(t *testing.T) {
	for text, want := range map[string][]int{
		"+-q": {'+', '-', 'q'}, "\x1b[A\x1b[Bp": {'+', '-', 'p'}, "\x1b[Z": {backTab}, "\x1b": {0x1b}, "\x1b[15~c": {'c'}, "\x1bOA": {'+'}, "\x03\x1a": {ctrlC, ctrlZ}, "\x1b[": nil,
	} {
		if got := typed([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestRecentForgets checks that the history is bounded.
func TestRecentForgets(t *testing.T) {
	var c recent
	for i := range 2 * mostSeconds {
		c.add(&view.Status{LastSecond: &view.Second{At: noon.Add(time.Duration(i) * time.Second), SessionRate: float64(i)}})
		c.add(&view.Status{LastSecond: &view.Second{At: noon.Add(time.Duration(i) * time.Second), SessionRate: -1}}) // the same second
	}
	if n := len(c.sessions); n != mostSeconds || c.sessions[n-1] != 2*mostSeconds-1 || c.sessions[0] != mostSeconds {
		t.Errorf("%d values, from %v", n, c.sessions[0])
	}
}

// TestScheduleIsShown checks that the dashboard shows how far arrivals are behind, and nothing for a run without a schedule.
func TestScheduleIsShown(t *testing.T) {
	for want, of := range map[string]*view.Schedule{
		"":                        nil,
		"on time":                 {Arrivals: "Poisson, 10/s", Lag: 0.2},
		"12 s behind, 40 overdue": {Arrivals: "Poisson, 10/s", Lag: 12.4, Overdue: 40},
	} {
		s := busy()
		s.Schedule = of
		got := ""
		for _, l := range seen(s).draw(120, 50) {
			if text := l.text(); strings.Contains(text, "schedule ") {
				got = text
			}
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	p := seen(busy())
	for b.Loop() {
		for _, l := range p.draw(200, 50) {
			_ = l.encode(Look{})
		}
	}
}
