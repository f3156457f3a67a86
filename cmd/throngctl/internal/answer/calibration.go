package answer

import (
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine/calibrate"
)

// FleetCalibration are calibrations with different numbers of workers, and the best one of them.
type FleetCalibration struct {
	calibrate.Choice
	Calibrations []calibration.Record `json:"calibrations"`
}

// Choose returns the best number of workers of calibrations.
func Choose(all []calibration.Record) calibrate.Choice {
	spread := make([]calibrate.Spread, len(all))
	for i := range all {
		spread[i] = calibrate.Spread{Workers: all[i].Workers, Result: &all[i].Result}
	}
	return calibrate.Choose(spread)
}
