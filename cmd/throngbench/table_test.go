package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.00123: "0.00123", 0.5: "0.5", 1: "1", 9.999: "10", 12.34: "12.3", 999.6: "1,000",
		1234.5: "1,234", 1234567: "1,234,567", -1234: "-1,234", -0.25: "-0.25",
	} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSpreadOf(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   spread
	}{
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{4, 1}, spread{2.5, 1, 4}},
		{[]float64{9, 1, 2}, spread{2, 1, 9}},
	} {
		if got := spreadOf(test.values); got != test.want {
			t.Errorf("spread of %v = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		must, aim float64
		less      bool
		median    float64
		want      string
	}{
		{20, 30, false, 30, "aim reached"},
		{20, 30, false, 29, "reached"},
		{20, 30, false, 19, "**short**"},
		{20, 0, false, 20, "reached"},
		{0, 0.5, true, 0.5, "aim reached"},
		{0, 0.5, true, 0.6, "short of the aim"},
		{10, 1, true, 5, "reached"},
		{10, 1, true, 11, "**short**"},
		{0, 0, false, 7, ""},
	} {
		r := measuredRatio{Must: test.must, Aim: test.aim, Less: test.less, Value: &spread{median: test.median}}
		if got := r.verdict(); got != test.want {
			t.Errorf("%+v at %v: %q, want %q", r, test.median, got, test.want)
		}
	}
	if got := (measuredRatio{Must: 1}).verdict(); got != "not measured" {
		t.Errorf("nothing measured: %q", got)
	}
}

// example returns a row with three peers: one is twice as slow in each round, one is missing, and one failed in its second
// round.
func example() line {
	return line{
		row: row{
			name: "7", what: "A thing", note: "A note.", shown: []string{"µs", "MB"},
			sides: []side{{name: "Throng"}, {name: "peer"}, {name: "other"}, {name: "broken"}},
			ratios: []ratio{
				{name: "times peer", must: 2, of: over(1, "µs", 0, "µs")},
				{name: "times other", must: 3, of: over(2, "µs", 0, "µs")},
				{name: "µs", aim: 5, less: true, of: plain("µs")},
			},
		},
		versions: []string{"", "1.2", "", ""},
		problems: []error{nil, nil, missingError("there is no a|b here"), errors.New("exit status 1")},
		rounds: [][]figures{
			{{"µs": 10, "MB": 1}, {"µs": 20}, nil, {"µs": 1}},
			{{"µs": 100, "MB": 1}, {"µs": 200}, nil, nil},
			{{"µs": 30, "MB": 2}, {"µs": 60}, nil, nil},
		},
	}
}

func TestMeasured(t *testing.T) {
	l := example()
	if got := l.failed(); got != 1 {
		t.Errorf("%d sides failed, want 1: a missing side did not fail", got)
	}
	m := l.measured()
	if got := m.Ratios[0].Value; got == nil || *got != (spread{2, 2, 2}) {
		t.Errorf("the ratio of the rounds is %v, want 2 in each", got)
	}
	if got := m.Ratios[1].Value; got != nil {
		t.Errorf("the ratio with a missing side: got %v", got)
	}
	if got, want := m.Sides[0].Figures, (map[string]spread{"µs": {30, 10, 100}, "MB": {1, 1, 2}}); !maps.Equal(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	old := example()
	for _, all := range old.rounds {
		all[0]["µs"] *= 3
	}
	m, before := measured{Machine: "here", Rounds: 3, Rows: []measuredRow{example().measured()}}, measured{Machine: "there", Rows: []measuredRow{old.measured()}}

	file := filepath.Join(t.TempDir(), "bin", "bench.md")
	if err := before.write(file, nil); err != nil {
		t.Fatal(err)
	}
	read, err := readMeasured(strings.TrimSuffix(file, "md") + "json")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.write(file, read); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Before: there.",
		"| # | What | Ratio or figure | Before | Measured | Must | Aim |  |",
		"| 7 | A thing | times peer | 0.667 (0.667 to 0.667) | 2 (2 to 2) | ≥ 2 |  | reached |",
		"|  |  | times other |  |  | ≥ 3 |  | not measured |",
		"|  |  | µs | 90 (30 to 300) | 30 (10 to 100) |  | ≤ 5 | short of the aim |",
		"| Throng | 30 (10 to 100) | 1 (1 to 2) |",
		"| Throng, before | 90 (30 to 300) | 1 (1 to 2) |",
		"| peer 1.2 | 60 (20 to 200) |  |",
		`| other | not measured: there is no a\|b here |  |`,
		"| broken | 1 (1 to 1) not measured: exit status 1 |  |",
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the table lacks %s\n%s", want, text)
		}
	}
	if alone := m.markdown(nil); strings.Contains(alone, "efore") {
		t.Errorf("without an earlier measurement:\n%s", alone)
	}
}
