package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// foreseen is a forecast of 372 shoppers that call a model.
func foreseen() *Forecast {
	return &Forecast{
		Sessions: Exactly(744, Measured), Cycles: Exactly(2, Measured), Cycle: Between(8, 12, FromProfile), Binds: "the limit",
		Length: Between(16, 24, FromProfile), Requests: Exactly(11_160, FromFile), Writes: Exactly(3720, FromFile),
		RequestRate: Between(27_900, 41_850, FromProfile), WriteRate: Between(9300, 9301, FromProfile), Connections: Exactly(55.8, Guessed),
		Calls: Exactly(744, FromFile), Input: Between(74_400, 744_000, Guessed), Output: Exactly(37_200, Guessed), Cost: Exactly(0.12, Guessed),
		Memory: Exactly(1.2e9, Measured), Disk: Exactly(5e6, Guessed),
		Services: []ServiceForecast{{"shop", Exactly(27_000, FromProfile), Exactly(9300, FromProfile)}},
		Writers:  []string{"buy", "fill.add"}, Server: 20, ServerMax: 60, Run: "run-1", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Advice: []string{"Take fewer."},
	}
}

func TestForecastIsKept(t *testing.T) {
	want := foreseen()
	want.Cost = Estimate{}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Forecast
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
	if err := json.Unmarshal([]byte(`{"cycle_seconds": {"basis": "hearsay"}}`), &got); err == nil {
		t.Error("hearsay is something to go by")
	}
}

func TestEstimates(t *testing.T) {
	two, some := Exactly(2, Measured), Between(5, 1, Guessed)
	for _, c := range []struct {
		name      string
		got, want Estimate
	}{
		{"in whatever order", some, Estimate{1, 5, Guessed}},
		{"product", two.Times(some), Estimate{2, 10, Guessed}},
		{"sum", two.Plus(some), Estimate{3, 7, Guessed}},
		{"of what is not known", two.Plus(Estimate{}), Estimate{}},
		{"scaled", some.Scale(3), Estimate{3, 15, Guessed}},
		{"no number", Exactly(math.NaN(), Measured), Estimate{}},
		{"no end", Between(1, math.Inf(1), Measured), Estimate{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if m := some.Middle(); m != 3 {
		t.Errorf("the middle of 1 and 5 is %v", m)
	}
	order := []Basis{Measured, FromProfile, FromFile, Guessed, NotKnown}
	for i, a := range order {
		for k, b := range order {
			if got := a.Worse(b); got != order[max(i, k)] {
				t.Errorf("the worse of %s and %s is %s", a, b, got)
			}
		}
	}
}

func TestForecastInWords(t *testing.T) {
	f := foreseen()
	want := map[string]string{
		"cycle": "8.0s–12s", "whole run": "16s–24s", "sessions": "744", "requests": "11,200", "requests/min": "27,900–41,900",
		"writes/min": "9,301", "db connections": "56 of 40 left", "model calls": "744", "tokens in": "74,400–744,000",
		"tokens out": "37,200", "cost": "$0.1200", "memory": "1200 MB", "journal": "5000 kB",
	}
	for _, line := range f.Lines() {
		if line.Text != want[line.Name] {
			t.Errorf("%s: got %q, want %q", line.Name, line.Text, want[line.Name])
		}
		delete(want, line.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no line of %v", want)
	}
	if got, want := f.String(), "cycle about 8.0s–12s, 27,900–41,900 requests/min, $0.1200 ("; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin with %q", got, want)
	}
	f.Server = -1
	if text := f.Lines()[6].Text; text != "56 of 60" {
		t.Errorf("of a server that does not tell its clients: %q", text)
	}
	quiet := &Forecast{Cycle: Exactly(90_000, Measured), Length: Exactly(5e6, Measured), Requests: Exactly(0, FromFile), Writes: Exactly(0, FromFile), Calls: Exactly(0, FromFile)}
	for _, line := range quiet.Lines() {
		switch line.Name {
		case "cycle":
			if line.Text != "25h0m" {
				t.Errorf("a cycle of 25 hours is %q", line.Text)
			}
		case "whole run":
			if line.Text != "58 days" {
				t.Errorf("58 days are %q", line.Text)
			}
		case "sessions", "memory", "journal":
			if line.Text != "not known" {
				t.Errorf("%s is %q, want not known", line.Name, line.Text)
			}
		default:
			t.Errorf("of a run that asks nobody there is a line %v", line)
		}
	}
}

// TestFrom checks the basis of a forecast: the worst of the figures that depend on time and money.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		change func(f *Forecast)
		want   Basis
		says   string
	}{
		{func(f *Forecast) {}, Guessed, "in part a guess"},
		{func(f *Forecast) { f.Cost.Basis = Measured }, FromProfile, "in part a guess, from the run of 2026-0"},
		{func(f *Forecast) { f.Calls = Exactly(0, FromFile); f.Run = "" }, FromProfile, "latencies of the mock"},
		{func(f *Forecast) { f.Cost.Basis, f.Cycle.Basis, f.RequestRate.Basis = Measured, Measured, Measured }, Measured, "measured in the run of 2026-0"},
		{func(f *Forecast) { f.Cycle, f.Run = Estimate{}, "" }, NotKnown, "not everything is known"},
	} {
		f := foreseen()
		c.change(f)
		if f.Basis() != c.want || !strings.Contains(f.From(), c.says) {
			t.Errorf("got %s: %q, want %s: %q", f.Basis(), f.From(), c.want, c.says)
		}
	}
}

// facts are the totals of a run of foreseen.
func facts() *Totals {
	t := &Totals{Requests: 11_000}
	t.Outcomes[OK] = 744
	t.Usage = Usage{Calls: 744, Input: 100_000, Output: 60_000, Cost: 120_000_000}
	t.Peaks = Peaks{Memory: 1_300_000_000, ServerConnections: 70, Elapsed: 40 * time.Second, Worked: 20 * time.Second}
	for _, path := range []string{"look", "buy", "fill[0].add", "fill[1].add"} {
		t.ByStep.begin()
		t.ByStep.of(path).add(&StepRecord{Path: path, Attempts: 1000}, 0)
	}
	return t
}

func TestCompare(t *testing.T) {
	r := &RunRecord{Forecast: foreseen(), Ending: EndFinished, Cycle: 2}
	want := []ForecastFact{
		{"cycle", "8.0s–12s", "10s", "within", false},
		{"whole run", "16s–24s", "40s", "+67 %", true},
		{"sessions", "744", "744", "as forecast", false},
		{"requests", "11,200", "11,000", "-1 %", false},
		{"requests/min", "27,900–41,900", "33,000", "within", false},
		{"writes/min", "9,301", "9,000", "-3 %", false},
		{"db connections", "56 of 40 left", "50", "-10 %", false},
		{"model calls", "744", "744", "as forecast", false},
		{"tokens in", "74,400–744,000", "100,000", "within", false},
		{"tokens out", "37,200", "60,000", "+61 %", true},
		{"cost", "$0.1200", "$0.1200", "as forecast", false},
		{"memory", "1200 MB", "1300 MB", "+8 %", false},
	}
	if got := r.Compare(facts()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// The cycles of the parent run used to count as the fork's own, which made each cycle seem short.
	fork := *r
	fork.ForkCycle, fork.Cycle = 30, 32
	if got := fork.Compare(facts()); !reflect.DeepEqual(got, want) {
		t.Errorf("of a fork: got  %v\nwant %v", got, want)
	}
	for _, longer := range []func(s *Settings){func(s *Settings) { s.Cycles = 3 }, func(s *Settings) { s.Hours = 0.1 }} {
		r.Settings = Settings{}
		longer(&r.Settings)
		for i, c := range r.Compare(facts()) {
			if w := want[i].Difference; c.Difference != w && (c.Difference != "made longer since" || c.Off) || c.Name == "sessions" && c.Difference == w {
				t.Errorf("%+v: %s of a run that was made longer is %q", r.Settings, c.Name, c.Difference)
			}
		}
	}
	r.Settings, r.Ending = Settings{}, EndStopped
	for _, c := range r.Compare(facts()) {
		whole := c.Name == "requests" || c.Name == "whole run" || c.Name == "cost"
		if whole && c.Difference != "" {
			t.Errorf("%s of a run that did not go to its end is compared: %v", c.Name, c)
		}
	}
	for _, c := range r.Compare(&Totals{Peaks: Peaks{Worked: time.Second}}) {
		if (c.Name == "requests/min" || c.Name == "writes/min") && c.Fact != "" {
			t.Errorf("%s of a run without a session that ended: %v", c.Name, c)
		}
	}
	r.Forecast = nil
	if got := r.Compare(facts()); got != nil {
		t.Errorf("of a run of which nothing was forecast: %v", got)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		e    Estimate
		fact float64
		want string
		off  bool
	}{
		{Exactly(0, Guessed), 0, "as forecast", false},
		{Exactly(0, Guessed), 3, "more", true},
		{Exactly(100, Guessed), 124, "+24 %", false},
		{Exactly(100, Guessed), 126, "+26 %", true},
		{Exactly(100, Guessed), 2000, "20 times", true},
		{Between(50, 100, Guessed), 40, "-20 %", false},
		{Between(50, 100, Guessed), 100.2, "as forecast", false},
	} {
		if got, off := c.e.difference(c.fact); got != c.want || off != c.off {
			t.Errorf("%v of %v: got %q, %v, want %q, %v", c.fact, c.e, got, off, c.want, c.off)
		}
	}
}

// TestFiguresInWords checks how figures of any size are formatted.
func TestFiguresInWords(t *testing.T) {
	for _, c := range []struct {
		show func(float64) string
		v    float64
		want string
	}{
		{showSeconds, 0, "0s"},
		{showSeconds, 0.0042, "4.2ms"},
		{showSeconds, 12.4, "12s"},
		{showSeconds, 599, "9m59s"},
		{showSeconds, 629, "10m"},
		{showSeconds, 7260, "2h1m"},
		{showSeconds, 172_800, "2 days"},
		{showSeconds, 1e30, "4,611,686,018,427,387,904 days"},
		{showCount, 0.4, "0"},
		{showCount, 9999, "9,999"},
		{showCount, 12_345, "12,300"},
		{showCount, 999_999, "1,000,000"},
		{showCount, math.MaxFloat64, "1,000,000,000,000,000,000"},
		{showConnections, 46.5, "47"},
		{showConnections, 56, "56"},
		{showConnections, 56.0000000000001, "56"},
		{showBytes, 1.5e9, "1500 MB"},
		{showDollars, 0, "$0"},
		{showDollars, 12.345, "$12.35"},
		{showDollars, 1e12, "$1,000,000,000.00"},
	} {
		if got := c.show(c.v); got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		e    Estimate
		want string
	}{
		{Estimate{}, "not known"},
		{Exactly(5, Guessed), "5"},
		{Between(91, 100, Guessed), "96"},
		{Between(80, 100, Guessed), "80–100"},
		{Between(0, 100, Guessed), "up to 100"},
		{Between(10, 100, Guessed), "10–100"},
		{Between(9, 100, Guessed), "up to 100"},
		{Between(0.1, 0.2, Guessed), "0"},
	} {
		if got := c.e.text(showCount); got != c.want {
			t.Errorf("%v: got %q, want %q", c.e, got, c.want)
		}
	}
}
