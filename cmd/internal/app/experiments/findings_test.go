package experiments_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
)

// effects executes the experiment and returns the rows of its effects, by column.
func (l *laboratory) effects() (rows []map[string]string) {
	l.t.Helper()
	l.execute()
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		t, err := x.Table(l.t.Context(), s)
		if err != nil {
			l.t.Fatal(err)
		}
		sheet := findings.Compare(x.Findings(t)).Sheet()
		for _, cells := range sheet.Rows {
			row := map[string]string{}
			for i, cell := range cells {
				row[sheet.Columns[i].Name] = cell
			}
			rows = append(rows, row)
		}
	})
	return rows
}

func (l *laboratory) number(row map[string]string, name string) float64 {
	l.t.Helper()
	v, err := strconv.ParseFloat(row[name], 64)
	if err != nil {
		l.t.Fatalf("%s is %q in %v", name, row[name], row)
	}
	return v
}

// TestEffects checks that the same seeds make the difference of two points exact where luck is the same, that a real difference is
// found, and that equal points have none.
func TestEffects(t *testing.T) {
	l := newLaboratory(t, strings.Replace(diceExperiment, "seeds: 4", "seeds: 12", 1))
	for _, row := range l.effects() {
		switch row["measure"] + " " + row["params.sides"] + "+" + row["params.bonus"] {
		case "events.rolled.value.mean 6+0", "acted 6+0", "events.rolled 6+0", "memory.last.mean 6+0":
			if row["difference"] != "" || row["runs"] != "12" {
				t.Errorf("the baseline: %v", row)
			}
		case "events.rolled.value.mean 6+1": // the same rolls, plus one
			if d := l.number(row, "difference"); math.Abs(d-1) > 1e-9 || l.number(row, "correlation") < 0.999 {
				t.Errorf("%v", row)
			}
		case "events.rolled.value.mean 20+0":
			if d := l.number(row, "difference"); d < 5 || d > 9 || l.number(row, "p_adjusted") > 0.001 || l.number(row, "difference_low") > d || l.number(row, "runs_saved") <= 0 {
				t.Errorf("%v", row)
			}
		case "memory.last.mean 20+1": // does not depend on the factors
			if l.number(row, "difference") != 0 || row["note"] == "" {
				t.Errorf("%v", row)
			}
		}
	}
}

// TestReplicatesUntil adds replicates until the interval of a measure is narrow enough, and not more when it looks again.
func TestReplicatesUntil(t *testing.T) {
	text := strings.NewReplacer("replicates: {seeds: 4}", "replicates: {seeds: 4, until: {half_width: 3%, of: events.rolled.value.mean, at_most: 30}}", "[4, 6, 20]", "[6, 20]", "  params.bonus: [0, 1]\n", "", ", params.bonus: 0", "").Replace(diceExperiment)
	l := newLaboratory(t, text)
	_, done := l.execute()
	if done <= 8 || done > 60 || done%2 != 0 {
		t.Fatalf("%d runs", done)
	}
	if _, more := l.execute(); more != 0 {
		t.Errorf("%d runs more", more)
	}
	narrow := 0
	for _, row := range l.effects() {
		if row["measure"] != "events.rolled.value.mean" {
			continue
		}
		if row["interval"] != "Stein's two-stage t" {
			t.Errorf("the interval is %q", row["interval"])
		}
		if l.number(row, "runs") == float64(done/2) && l.number(row, "high")-l.number(row, "low") <= 2*0.035*l.number(row, "mean") {
			narrow++
		}
	}
	if narrow != 2 && done < 60 {
		t.Errorf("%d of 2 intervals are narrow after %d runs", narrow, done)
	}
}

// TestForecast checks that the forecast counts the missing runs, and follows from runs like them once there are some.
func TestForecast(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	check := func(runs int) (f experiments.Forecast) {
		t.Helper()
		l.open(func(x *experiments.Experiment) {
			s, err := x.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f, err = x.Forecast(t.Context(), s); err != nil || f.Runs != runs {
				t.Errorf("the forecast is %+v, %v, want %d runs", f, err, runs)
			}
		})
		return f
	}
	f := check(24)
	if !f.Length.Known() || f.Length.High <= 0 || f.Disk.High <= 0 || f.Requests.High != 0 || f.Cost.High != 0 {
		t.Errorf("before the first run: %+v", f)
	}
	l.execute()
	if f := check(0); f.Length.High != 0 {
		t.Errorf("nothing is left: %+v", f)
	}
	l.write("dice.experiment.yaml", strings.Replace(diceExperiment, "seeds: 4", "seeds: 8", 1))
	if more := check(24); more.Disk.Basis != engine.Measured || more.Disk.High <= 0 {
		t.Errorf("after 24 runs: %+v", more)
	}
}
