package postgres

import (
	"encoding/binary"
	"hash/fnv"
	"hash/maphash"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// trails are the paths of a batch's sessions through their steps. Most sessions of a run follow one of a few paths, so each
// is sent once, and the row of a session has its ID. A funnel of steps then costs nine bytes per session instead of a row
// per step, and a batch that is sent again is not counted twice.
type trails struct {
	known map[uint64]int64 // IDs, by a hash of the recorded steps
	sent  map[int64]bool
	rows  []trailStep
	data  []byte // encoding of the current session
}

// trailStep is a row of throng.trails.
type trailStep struct {
	trail   int64
	place   int
	step    string
	outcome engine.StepStatus
}

var trailSeed = maphash.MakeSeed()

func (t *trails) reset() {
	t.rows = t.rows[:0]
	clear(t.known)
	clear(t.sent)
}

// of returns the ID of a session's trail, which is the same in every process; ok is false for a session without steps.
func (t *trails) of(s *engine.SessionRow) (id int64, ok bool) {
	if len(s.Steps) == 0 {
		return 0, false
	}
	t.data = t.data[:0]
	for i := range s.Steps {
		t.data = append(append(t.data, s.Steps[i].Path...), 0, byte(s.Steps[i].Status))
	}
	key := maphash.Bytes(trailSeed, t.data)
	if id, ok = t.known[key]; !ok {
		if t.known == nil {
			t.known, t.sent = map[uint64]int64{}, map[int64]bool{}
		}
		id = t.add(s.Steps)
		t.known[key] = id
	}
	return id, true
}

// worse orders the outcomes of a loop's iterations. The trail has the worst one.
var worse = []engine.StepStatus{engine.StepSkipped, engine.StepCanceled, engine.StepOK, engine.StepTimedOut, engine.StepFailed}

// add stores the rows of a trail. All iterations of a loop are one step.
func (t *trails) add(steps []engine.StepRecord) int64 {
	var way []trailStep
	for i := range steps {
		name := engine.StepName(steps[i].Path)
		k := slices.IndexFunc(way, func(s trailStep) bool { return s.step == name })
		if k < 0 {
			way = append(way, trailStep{place: len(way), step: name, outcome: steps[i].Status})
			continue
		}
		if slices.Index(worse, steps[i].Status) > slices.Index(worse, way[k].outcome) {
			way[k].outcome = steps[i].Status
		}
	}
	h := fnv.New64a()
	for _, s := range way {
		_, _ = h.Write(append([]byte(s.step), 0, byte(s.outcome))) // cannot fail
	}
	id := int64(binary.BigEndian.Uint64(h.Sum(nil)))
	if !t.sent[id] {
		t.sent[id] = true
		for i := range way {
			way[i].trail = id
		}
		t.rows = append(t.rows, way...)
	}
	return id
}

// statement inserts missing rows. All senders insert in the same order, so that they wait for each other instead of
// deadlocking.
func (t *trails) statement(run engine.RunID) statement {
	slices.SortFunc(t.rows, func(a, b trailStep) int {
		switch {
		case a.trail < b.trail:
			return -1
		case a.trail > b.trail:
			return 1
		}
		return a.place - b.place
	})
	ids, places := make([]int64, len(t.rows)), make([]int32, len(t.rows))
	names, outcomes := make([]string, len(t.rows)), make([]string, len(t.rows))
	for i, r := range t.rows {
		ids[i], places[i], names[i], outcomes[i] = r.trail, int32(r.place), sanitize(r.step), r.outcome.String()
	}
	return statement{
		`INSERT INTO throng.trails (run, trail, place, step, outcome)
		SELECT $1, * FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[]) ON CONFLICT DO NOTHING`,
		[]any{string(run), ids, places, names, outcomes},
	}
}
