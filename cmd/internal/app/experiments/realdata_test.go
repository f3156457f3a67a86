package experiments_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
)

// throws is a scenario whose agents throw a die. turn only renumbers its sides.
const throws = `
title: Throws
parameters:
  sides: {default: 6}
  bonus: {default: 0}
  turn: {default: 0}
population: {count: 60, attributes: {home: "${['town', 'village'][params.bonus % 2]}"}}
chain play:
  step roll: {kind: emit, event: rolled, data: "${{'value': (int(uniform(0, params.sides)) + params.turn) % params.sides + params.bonus}}"}
  step keep: {kind: remember, set: {last: "${int(uniform(1, 101))}"}}
`

const throwsExperiment = `
title: Which die is it?
scenario: dice.yaml
vary:
  params.sides: [4, 6, 20]
  params.bonus: [0, 1]
replicates: {seeds: 12}
settings: {cycles: 2}
validate_against:
  file: real.csv
  measures: {value: events.rolled.value.mean, last: memory.last, home: agent.home}
`

// thrown returns real data: means of two throws of a die with 6 sides and a bonus of 1, in villages.
func thrown() string {
	r := rand.New(rand.NewPCG(3, 5))
	var b strings.Builder
	b.WriteString("value,last,home\n")
	for range 400 {
		fmt.Fprintf(&b, "%g,%d,village\n", 1+(float64(r.IntN(6))+float64(r.IntN(6)))/2, 1+r.IntN(100))
	}
	return b.String()
}

// nearest executes the experiment and ranks its points.
func (l *laboratory) nearest() *nearest.Result {
	l.t.Helper()
	l.write("dice.yaml", throws)
	l.write("real.csv", thrown())
	l.execute()
	return l.rank()
}

// rank ranks the points by the runs that are done.
func (l *laboratory) rank() (r *nearest.Result) {
	l.t.Helper()
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		t, err := x.Table(l.t.Context(), s)
		if err != nil {
			l.t.Fatal(err)
		}
		r = nearest.Rank(x.Findings(t))
	})
	return r
}

// TestNearestPoint finds the point that the real data was made with, in the columns that depend on the factors and in no other.
func TestNearestPoint(t *testing.T) {
	l := newLaboratory(t, throwsExperiment)
	r := l.nearest()
	sentences := r.Sentences()
	for i, want := range []string{
		"bonus=1, sides=6 is nearest to real.csv, by more than chance against each of the 5 other points: its distance is 0.0",
		"bonus=1, sides=6 is nearest to real.csv in value, by more than chance against each of the 5 other points: its distance is 0.",
		"No point is nearest to real.csv in last by more than chance. ",
		"bonus=1, sides=4 has the smallest distance from real.csv in home, 0, but bonus=1, sides=6; bonus=1, sides=20 may be as near",
	} {
		if len(sentences) != 4 || !strings.Contains(sentences[i].Text, want) || sentences[i].Clear != (i < 2) {
			t.Fatalf("%+v\nwant %q at %d", sentences, want, i)
		}
	}
	value, home := &r.Columns[0], &r.Columns[2]
	point := slices.IndexFunc(r.Table.Points, func(p findings.Point) bool { return p.Label == "bonus=1, sides=6" })
	if value.Differs[point] > 1 || value.Differs[0] != 12 || value.Problem[0] != "" {
		t.Errorf("runs that differ: %v", value.Differs)
	}
	if home.Estimates[point].Mean != 0 || home.Estimates[0].Mean != 1 { // attributes depend on the parameters of each run
		t.Errorf("distances of the homes: %+v", home.Estimates)
	}

	// Another file with real data leads to other distances of the same runs.
	l.write("real.csv", strings.ReplaceAll(thrown(), "village", "town"))
	if s := l.rank(); s.Columns[2].Estimates[point].Mean != 1 {
		t.Errorf("the distances of other homes: %+v", s.Columns[2].Estimates)
	}
}

// TestNoNearestPoint finds no point if all of them fit as well.
func TestNoNearestPoint(t *testing.T) {
	text := strings.NewReplacer("  params.sides: [4, 6, 20]\n  params.bonus: [0, 1]\n", "  params.turn: [0, 1, 2, 4]\n", "scenario: dice.yaml", "scenario: dice.yaml\nparams: {bonus: 1}", ", home: agent.home", "").Replace(throwsExperiment)
	l := newLaboratory(t, text)
	r := l.nearest()
	for _, s := range r.Sentences() {
		if s.Clear || !strings.HasPrefix(s.Text, "No point is nearest to real.csv") {
			t.Errorf("%+v", s)
		}
	}
}
