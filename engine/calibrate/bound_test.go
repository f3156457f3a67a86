package calibrate

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden texts")

// situations are sweeps whose texts are stored in a golden file.
func situations() []struct {
	name    string
	samples []Sample
} {
	knee := func(change func(*Sample)) []Sample {
		return with(samplesOf(Curve{250, 0.05, 0.003}, doubling, 3, 0.02, 9), change)
	}
	line := func(levels int, change func(*Sample)) []Sample {
		return with(samplesOf(Curve{12.5, 0, 0}, doubling[:levels], 3, 0.02, 9), change)
	}
	return []struct {
		name    string
		samples []Sample
	}{
		{"nothing was measured", nil},
		{"everything grows", line(7, func(*Sample) {})},
		{"one level only", line(1, func(*Sample) {})},
		{"the backend slows down", knee(func(s *Sample) { s.Asked, s.Service = s.Ended, time.Duration(s.Level)*3*time.Millisecond })},
		{"requests are refused", knee(func(s *Sample) { s.Asked, s.Refused = s.Ended, s.Ended/5 })},
		{"a rate holds", knee(func(s *Sample) { s.Paced = 0.42 })},
		{"a pool holds", knee(func(s *Sample) { s.Bounded = 0.31 })},
		{"the database is full", knee(func(s *Sample) { s.Clients, s.MaxClients = 57, 60 })},
		{"the CPU is busy", knee(func(s *Sample) { s.CPU, s.OwnCPU = 85, 80 })},
		{"the memory is used", knee(func(s *Sample) { s.Memory = 0.82 })},
		{"a cycle is too small", knee(func(s *Sample) { s.InFlight = min(s.InFlight, 9) })},
		{"unknown cause", knee(func(*Sample) {})},
		{"the CPU ends it", line(5, func(s *Sample) { s.CPU, s.OwnCPU = min(6*float64(s.Level), 100), min(6*float64(s.Level), 97) })},
		{"others use the CPU", line(5, func(s *Sample) { s.CPU, s.OwnCPU = 99, 7 })},
		{"the memory ends it", line(5, func(s *Sample) { s.Memory = 0.055 * float64(s.Level) })},
		{"sessions fail", line(6, func(s *Sample) {
			if s.Level == 32 {
				s.Failed = s.Ended / 8
			}
		})},
		{"sessions fail for 429s", line(6, func(s *Sample) {
			if s.Asked = s.Ended; s.Level == 32 {
				s.Failed, s.Refused = s.Ended/8, s.Ended/2
			}
		})},
		{"all fail", line(1, func(s *Sample) { s.Failed = s.Ended })},
		{"none ends", line(2, func(s *Sample) { s.Ended = 0 })},
	}
}

// TestWords compares the text of each situation with the golden file.
func TestWords(t *testing.T) {
	var b strings.Builder
	for _, s := range situations() {
		r := Evaluate(Plan{}, s.samples)
		fmt.Fprintf(&b, "%s\n  %s\n", s.name, r.String())
		for _, l := range r.Levels {
			if l.Note != "" && l.Note != "not measured" {
				fmt.Fprintf(&b, "  %d: %s\n", l.Level, l.Note)
			}
		}
	}
	path := filepath.Join("testdata", "words.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("-update rewrites testdata/words.txt; got\n%s", b.String())
	}
}

// TestAnyMeasurements checks that any figures have a consistent result: a level within its bounds, or none with a reason.
func TestAnyMeasurements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SliceOfNDistinct(rapid.IntRange(1, 500), 1, 6, rapid.ID).Draw(t, "levels")
		var samples []Sample
		for round := range rapid.IntRange(0, 3).Draw(t, "rounds") {
			for _, n := range levels {
				if rapid.Bool().Draw(t, "left out") {
					continue
				}
				ended := rapid.Int64Range(0, 1e5).Draw(t, "ended")
				samples = append(samples, Sample{
					Level: n, Round: round + 1, Span: time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "span")), Ended: ended,
					Failed: rapid.Int64Range(0, ended).Draw(t, "failed") / 10, Asked: rapid.Int64Range(0, 1e6).Draw(t, "asked"),
					Refused: rapid.Int64Range(0, 100).Draw(t, "refused"), CPU: rapid.Float64Range(-1, 100).Draw(t, "cpu"),
					OwnCPU: rapid.Float64Range(-1, 100).Draw(t, "own"), Memory: rapid.Float64Range(-1, 1).Draw(t, "memory"),
					Service: time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "service")), Paced: rapid.Float64Range(0, 1).Draw(t, "paced"),
					InFlight: rapid.Float64Range(0, 500).Draw(t, "in flight"), Clients: rapid.IntRange(-1, 100).Draw(t, "clients"), MaxClients: 100,
				})
			}
		}
		r := Evaluate(Plan{Levels: levels}, samples)
		if r.Why == "" || r.Level > 0 && r.Bound == "" || r.String() == "" {
			t.Errorf("the reason is missing: %+v", r)
		}
		if r.Level == 0 {
			return
		}
		if r.Low < 1 || r.Low > r.Level || r.High < r.Level || math.IsNaN(r.PerSecond) || r.PerSecond < 0 {
			t.Errorf("%d from %d to %d, %v per second", r.Level, r.Low, r.High, r.PerSecond)
		}
		if over := lowestOver(r.Levels); over != nil && r.Level > over.Level {
			t.Errorf("%d is recommended although %d was over %s", r.Level, over.Level, over.Over)
		}
	})
}

// TestSolve checks solutions against their equations.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "unknowns")
		value := rapid.Float64Range(-10, 10)
		var q normal
		for range 5 {
			q.add([3]float64{value.Draw(t, "a"), value.Draw(t, "b"), value.Draw(t, "c")}, value.Draw(t, "right"))
		}
		x, ok := q.solve(n, 0.01)
		if !ok {
			return // a column of zeros
		}
		for i := range n {
			left, size := 0.0, 1.0
			for j := range n {
				a := q.matrix[i][j]
				if i == j {
					a *= 1.01
				}
				left += a * x[j]
				size += math.Abs(a * x[j])
			}
			if math.Abs(left-q.right[i]) > 1e-6*size {
				t.Errorf("line %d is %v, want %v", i, left, q.right[i])
			}
		}
	})
	if _, ok := (normal{}).solve(2, 0); ok {
		t.Error("nothing was solved")
	}
}

// TestTheHighestLevelSoFar checks that the highest level of a stopped sweep is not reported as the plan's highest.
func TestTheHighestLevelSoFar(t *testing.T) {
	samples := samplesOf(Curve{100, 0, 0}, []int{1, 2, 4}, 1, 0, 1)
	if r := Evaluate(Plan{Levels: []int{1, 2, 4, 8}}, samples); !strings.HasSuffix(r.Why, "at 4, the highest level that was measured") {
		t.Errorf("it reports that %s", r.Why)
	}
}
