package mocks

import (
	"fmt"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/duration"
	"github.com/throng-sim/throng/engine/mock/batchmock"
)

// ParseBatches reads how batches of the mock model end: their delay, fractions of requests, and shuffled. Mistakes are
// *engine.FieldError.
func ParseBatches(given map[string]string) (cfg batchmock.Config, err error) {
	shares := map[string]*float64{"expired": &cfg.Expired, "failed": &cfg.Failed, "missing": &cfg.Missing, "doubled": &cfg.Doubled}
	for kind, text := range given {
		share, isShare := shares[kind]
		switch {
		case isShare:
			*share, err = strconv.ParseFloat(text, 64)
		case kind == "delay":
			cfg.Delay, err = duration.Parse(text)
		case kind == "shuffled":
			cfg.Shuffled, err = strconv.ParseBool(text)
		default:
			return cfg, &engine.FieldError{Field: "batch", Problem: fmt.Sprintf("unknown kind %q", kind), Hint: "delay, expired, failed, missing, doubled or shuffled"}
		}
		if err != nil {
			return cfg, &engine.FieldError{Field: "batch " + kind, Problem: fmt.Sprintf("%q cannot be read", text), Hint: "such as delay=2s, expired=0.1 or shuffled=1"}
		}
	}
	return cfg, nil
}
