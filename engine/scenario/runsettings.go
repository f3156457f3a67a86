package scenario

import (
	"strconv"
	"strings"
)

// Settings returns the settings of a run that the scenario sets, by name, as their flags have them.
func (s *Scenario) Settings() map[string]string {
	file := map[string]string{}
	if s.Cycles > 0 {
		file["cycles"] = strconv.Itoa(s.Cycles)
	}
	if s.Batch > 0 {
		file["batch"] = strconv.Itoa(s.Batch)
	}
	if s.Sequential {
		file["sequential"] = "on"
	}
	if len(s.WarmUp) > 0 {
		shares := make([]string, len(s.WarmUp))
		for i, f := range s.WarmUp {
			shares[i] = strconv.FormatFloat(f, 'g', -1, 64)
		}
		file["warm-up"] = strings.Join(shares, ",")
	}
	return file
}
