package team

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet"
)

// record is a store with one run.
type record struct {
	changes []engine.ChangeRow
	starts  []engine.StartRow
	err     error
}

func (r record) Changes(context.Context, engine.RunID) ([]engine.ChangeRow, error) {
	return r.changes, r.err
}

func (r record) Starts(context.Context, engine.RunID) ([]engine.StartRow, error) {
	return r.starts, r.err
}

func TestHad(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	started := func(all ...int) (rows []engine.StartRow) {
		for _, s := range all {
			rows = append(rows, engine.StartRow{At: at(s)})
		}
		return rows
	}
	on := func(s int, where string) engine.ChangeRow {
		return engine.ChangeRow{At: at(s), What: engine.FleetChange, New: where}
	}
	for name, c := range map[string]struct {
		record
		want fleet.Plan
	}{
		"no start":              {},
		"this process":          {record{starts: started(0), changes: []engine.ChangeRow{{At: at(1), What: engine.LimitSetting, New: "9"}}}, fleet.Plan{}},
		"processes":             {record{starts: started(0), changes: []engine.ChangeRow{on(1, "local:3")}}, fleet.Plan{Local: 3}},
		"other computers":       {record{starts: started(0, 5), changes: []engine.ChangeRow{on(1, "local:3"), on(5, ":7500")}}, fleet.Plan{Listen: ":7500"}},
		"a cluster":             {record{starts: started(0), changes: []engine.ChangeRow{on(1, "tls://nats.example.com:4222")}}, fleet.Plan{Cluster: "tls://nats.example.com:4222"}},
		"none in the last part": {record{starts: started(0, 5), changes: []engine.ChangeRow{on(1, "local:3")}}, fleet.Plan{}},
	} {
		if got, err := Had(t.Context(), c.record, "a"); got != c.want || err != nil {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := Had(t.Context(), record{err: broken}, "a"); !errors.Is(err, broken) {
		t.Errorf("a broken store: %v", err)
	}
}
