package storage

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// forecast is the forecast that was made before the run started, compared with the result.
type forecast struct {
	*engine.Forecast
	Compared []view.ForecastFact `json:"compared"`
}

// newForecast returns nil for a run without a forecast.
func newForecast(r *engine.RunRecord, t *engine.Totals) *forecast {
	if r.Forecast == nil {
		return nil
	}
	return &forecast{r.Forecast, view.CompareForecast(r, t)}
}
