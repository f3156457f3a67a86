package findings_test

import (
	"math"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// TestSharesInPercent checks that shares are shown in percent, their differences in percentage points, and that files keep shares.
func TestSharesInPercent(t *testing.T) {
	x := table(8, func(v []float64, k int) float64 { return 0.3 + 0.1*v[0] + 0.001*float64(k)*(1+v[0]) }, []float64{0, 1}, []float64{0, 1})
	x.Measures[0].Kind = statistics.Share
	x.Baseline = 0
	raw, shown := findings.Compare(x), findings.Compare(x)
	shown.InPercent()
	for point := range x.Points {
		if a, b := raw.Rows[0].Estimates[point], shown.Rows[0].Estimates[point]; !near(100*a.Mean, b.Mean) || !near(100*a.Interval.High, b.Interval.High) || a.N != b.N {
			t.Errorf("point %d: %+v is shown as %+v", point, a, b)
		}
		if a, b := raw.Difference(&raw.Rows[0], point), shown.Difference(&shown.Rows[0], point); a != nil && (!near(100*a.Value, b.Value) || !near(a.P, b.P)) {
			t.Errorf("point %d: the difference %+v is shown as %+v", point, a, b)
		}
	}
	if got, want := shown.Sentences()[0].Text, "a=1 raises y by 10.4 percentage points [10.1, 10.6], from 30.3%; 1 other point differs clearly, too"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e := shown.Effects(0); e.Unit != findings.PercentagePoints || math.Abs(e.Bars[1].Value-10.35) > 1 {
		t.Errorf("effects %+v", e)
	}
	if c := shown.Table.Curves(0, 0, -1); c.Unit != "%" || !near(c.Lines[0].Dots[0].Mean, 30.35) {
		t.Errorf("curve %+v", c)
	}
	if s := x.Sheet(); s.Columns[len(s.Columns)-1].Unit != "" || s.Rows[0][len(s.Rows[0])-1] != "0.3" {
		t.Errorf("sheet %+v", s.Rows[0])
	}
	x.Design, x.Points, x.Runs = "one-at-a-time", x.Points[:3], x.Runs[:3]
	for _, in := range []*findings.Table{x, x.InPercent()} {
		a, err := findings.Analyze(in, 0)
		if err != nil || a == nil {
			t.Fatal(a, err)
		}
		want, unit := 0.1035, ""
		if in != x {
			want, unit = 10.35, findings.PercentagePoints
		}
		if f := a.Factors[0].Figures; a.Unit != unit || !near(f[len(f)-1].Value, want) {
			t.Errorf("tornado in %q: %+v", a.Unit, a.Factors)
		}
	}
	x.Until, x.UntilOf = &statistics.Until{HalfWidth: 0.02}, 0
	if got := x.InPercent().HalfWidth(); got != "2 percentage points" {
		t.Errorf("half width %q", got)
	}
}
