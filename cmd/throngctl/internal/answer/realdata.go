package answer

import "github.com/throng-sim/throng/engine/experiment/nearest"

// RealData says which point of an experiment is nearest to real data.
type RealData struct {
	File    string           `json:"file"`
	Digest  string           `json:"sha256"`
	Method  string           `json:"method"`
	Nearest int              `json:"nearest"` // number of the point; 0 if no run could be compared
	Clear   bool             `json:"clear"`   // it is nearer than every other point, by more than chance
	Found   []string         `json:"found"`   // sentences
	Notes   []string         `json:"notes,omitempty"`
	Points  []RankedPoint    `json:"points"` // by all columns together
	Columns []RealDataColumn `json:"columns"`
}

// RealDataColumn is a column of the real data, compared with a figure of each run.
type RealDataColumn struct {
	Column string        `json:"column"`
	Figure string        `json:"figure"`
	Points []RankedPoint `json:"points"`
}

// RankedPoint is a point with its mean distance from the real data over its runs. Unknown figures are null.
type RankedPoint struct {
	Point    int          `json:"point"`
	Runs     int          `json:"runs"` // with a distance
	Distance *float64     `json:"distance"`
	Interval *EffectRange `json:"interval"`
	Rank     string       `json:"rank"` // nearest, rival if it may be as near, or farther; empty without a distance
	// Farther is the distance minus that of the nearest point; missing there.
	Farther *EffectAgainst          `json:"farther,omitempty"`
	Differ  *int                    `json:"runs_that_differ,omitempty"` // runs whose tests find a difference from the real data, of a column
	Figures map[string]RealDistance `json:"figures,omitempty"`          // of a column
	Problem string                  `json:"problem,omitempty"`          // why a run was not compared
}

// RealDistance is the mean of a figure over the runs of a point.
type RealDistance struct {
	Mean     float64      `json:"mean"`
	Interval *EffectRange `json:"interval"`
}

// newRealData returns the answer for real data; nil without any.
func newRealData(r *nearest.Result) *RealData {
	if r == nil {
		return nil
	}
	d := &RealData{
		File: r.Table.Real.File, Digest: r.Table.Real.Digest, Method: nearest.Method, Nearest: r.Overall.Nearest + 1, Clear: r.Overall.Clear(),
		Notes: r.Notes(), Points: newRanked(&r.Overall), Columns: []RealDataColumn{},
	}
	for _, s := range r.Sentences() {
		d.Found = append(d.Found, s.Text)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		one := RealDataColumn{Column: c.Name, Figure: c.Figure, Points: newRanked(&c.Ranking)}
		for point := range one.Points {
			p := &one.Points[point]
			p.Differ, p.Problem, p.Figures = &c.Differs[point], c.Problem[point], map[string]RealDistance{}
			for k := range nearest.Figures {
				if e := &c.Figures[k][point]; e.N > 0 {
					p.Figures[nearest.Figures[k].Name] = RealDistance{e.Mean, newRange(e.Interval)}
				}
			}
		}
		d.Columns = append(d.Columns, one)
	}
	return d
}

func newRanked(of *nearest.Ranking) []RankedPoint {
	all := []RankedPoint{}
	for point := range of.Estimates {
		e := &of.Estimates[point]
		one := RankedPoint{Point: point + 1, Runs: e.N, Distance: known(e.Mean), Interval: newRange(e.Interval), Rank: string(of.Rank(point))}
		if one.Rank != "" && point != of.Nearest {
			one.Farther = newAgainst(&of.Farther[point])
		}
		all = append(all, one)
	}
	return all
}
