package sqlite

import (
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestErrorNotesAreOfLastTakes checks that a retried session has no error note, unless it failed again.
func TestErrorNotesAreOfLastTakes(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer func() { closeStore(t, s) }()
	j := newRun(t, s, "r")
	row := func(agent, take int, class engine.Class) engine.SessionRow {
		r := engine.SessionRow{Place: engine.Place{Agent: agent, Take: take}, Outcome: engine.OK, Class: class}
		if class != engine.NoError {
			r.Outcome, r.Error = engine.Failed, fmt.Sprintf("take %d of %d", take, agent)
		}
		return r
	}
	requeue := func(agent, take int) engine.ChangeRow {
		return engine.ChangeRow{What: engine.RequeueChange, New: fmt.Sprintf(`{"cycle":0,"agent":%d,"take":%d}`, agent, take)}
	}
	err := j.Commit(t.Context(), engine.SessionRows{row(1, 0, engine.Network), row(2, 0, engine.Network), row(3, 0, engine.Script)},
		requeue(1, 1), requeue(3, 1), engine.SessionRows{row(1, 1, engine.NoError), row(3, 1, engine.Network)})
	if err != nil {
		t.Fatal(err)
	}
	notes, err := s.ErrorNotes(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || notes[0].Class != engine.Network || notes[0].Count != 2 || notes[0].Message != "take 1 of 3" {
		t.Errorf("got %+v, want two network errors, the last one of the second take", notes)
	}
}
