package storage

import "github.com/throng-sim/throng/engine"

// forecast is what was expected before the run started, and how it compares with what it came to.
type forecast struct {
	*engine.Forecast
	Compared []compared `json:"compared"`
}

type compared struct {
	Figure     string `json:"figure"`
	Forecast   string `json:"forecast"`
	Fact       string `json:"fact,omitempty"`
	Difference string `json:"difference,omitempty"`
}

// newForecast is nil for a run of which nothing was forecast.
func newForecast(r *engine.RunRecord, t *engine.Totals) *forecast {
	if r.Forecast == nil {
		return nil
	}
	f := &forecast{Forecast: r.Forecast}
	for _, c := range r.Compare(t) {
		f.Compared = append(f.Compared, compared{c.Name, c.Forecast, c.Fact, c.Difference})
	}
	return f
}
