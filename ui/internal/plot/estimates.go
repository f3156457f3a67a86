package plot

// Estimate is a value with its interval, in a row of its own.
type Estimate struct {
	Name, Text, Tip  string  // Text is the value, and Tip is said about the row
	Value, Low, High float64 // Low and High are NaN without an interval
	Series           int     // of rows that look alike
}

// SetEstimates shows estimates in the order given. Percentages begin at 0.
func (r *Rows) SetEstimates(title string, all []Estimate, unit string) {
	rows := make([]row, len(all))
	for i := range all {
		e := &all[i]
		rows[i] = row{name: e.Name, value: e.Text, tip: e.Tip, marks: []mark{{look: looks[e.Series%len(looks)], value: e.Value, low: e.Low, high: e.High}}}
	}
	r.title = title
	r.set(rows, nil, unit == "%", unit)
}
