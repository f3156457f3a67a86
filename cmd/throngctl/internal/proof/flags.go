package proof

import (
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine"
)

// Flags say which trials are spread over workers.
type Flags struct {
	Fleet string `placeholder:"local:N" help:"Spread all trials over N workers on this machine, or none (default: every fourth trial over 2 workers)."`
}

// none spreads no trial over workers.
const none = "none"

// some spreads a part of the trials over the fewest workers that take over from each other.
var some = prove.Fleet{Workers: 2}

// Trials returns which trials are spread.
func (f Flags) Trials() (prove.Fleet, error) {
	switch f.Fleet {
	case "":
		return some, nil
	case none:
		return prove.Fleet{}, nil
	}
	count, err := crew.Local(f.Fleet)
	if err == nil && count == 0 {
		err = &engine.FieldError{Field: "fleet", Problem: "a proof starts its workers on this machine", Hint: "for example local:3, or none"}
	}
	return prove.Fleet{Workers: count, Always: true}, err
}

// Of returns which trials of a launch are spread. Without the flag, a run that cannot be spread is not.
func (f Flags) Of(l *app.Launch) (prove.Fleet, error) {
	trials, err := f.Trials()
	if err != nil || trials.Workers == 0 {
		return trials, err
	}
	if err = crew.CheckLaunch(l, trials.Workers); err != nil && f.Fleet == "" {
		return prove.Fleet{}, nil
	}
	return trials, err
}
