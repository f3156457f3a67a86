package statistics

// Measure is one measure of an experiment.
type Measure struct {
	Name   string
	Kind   Kind
	Values [][]float64 // of each point, of each replicate; NaN where a run failed or has no value
}

// Row is one measure in a table.
type Row struct {
	Name      string
	Estimates []Estimate   // of each point
	Against   []Difference // of each point from the baseline; of the baseline from itself, unknown
}

// Table estimates each measure at each point and compares the points with the baseline, the index of a point; a negative index leaves the
// comparison out. paired tells that replicates with the same index had the same seed. Adjusted is corrected for the points, by
// AgainstBaseline, and then for the measures, by HolmRows: below 0.05 it is significant in the table as a whole. Joint holds for the
// points of one measure. The seed is that of the bootstrap.
func Table(measures []Measure, baseline int, paired bool, seed uint64) []Row {
	rows, adjusted := make([]Row, len(measures)), make([][]float64, len(measures))
	for m, measure := range measures {
		rows[m].Name = measure.Name
		for p, values := range measure.Values {
			rows[m].Estimates = append(rows[m].Estimates, Summarize(values, measure.Kind, seed+uint64(p)))
		}
		if baseline < 0 || baseline >= len(measure.Values) {
			continue
		}
		var points [][]float64
		for p, values := range measure.Values {
			if p != baseline {
				points = append(points, values)
			}
		}
		rest := AgainstBaseline(measure.Values[baseline], points, measure.Kind, paired)
		for p := range measure.Values {
			if p == baseline {
				rows[m].Against = append(rows[m].Against, blank(None, "this is the baseline").Difference)
				continue
			}
			rows[m].Against, rest = append(rows[m].Against, rest[0]), rest[1:]
		}
		for _, d := range rows[m].Against {
			adjusted[m] = append(adjusted[m], d.Adjusted)
		}
	}
	for m, row := range HolmRows(adjusted) {
		for p, x := range row {
			rows[m].Against[p].Adjusted = x
		}
	}
	return rows
}
