package storage

import "github.com/throng-sim/throng/engine"

// forecast is the forecast that was made before the run started, compared with the result.
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

// newForecast returns nil for a run without a forecast.
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
