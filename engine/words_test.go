package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestEveryWordHasAName(t *testing.T) {
	seen := map[string]bool{}
	add := func(kind, name string) {
		if key := kind + name; name == "" || seen[key] {
			t.Errorf("%s: %q is empty or used twice", kind, name)
		} else {
			seen[key] = true
		}
	}
	for o := engine.Unfinished; o <= engine.Cut; o++ {
		add("outcome", o.String())
	}
	for s := engine.StepOK; s <= engine.StepCanceled; s++ {
		add("step", s.String())
	}
	for _, c := range engine.Classes() {
		add("class", c.String())
	}
	for l := engine.Fresh; l <= engine.Confirmed; l++ {
		add("label", l.String())
	}
	for p := engine.Preparing; p <= engine.Ended; p++ {
		add("phase", p.String())
	}
	for e := engine.EndFinished; e <= engine.EndOutOfBudget; e++ {
		add("ending", e.String())
		if got, err := engine.ParseEnding(e.String()); err != nil || got != e {
			t.Errorf("ParseEnding(%q) = %v, %v", e, got, err)
		}
	}
	if _, err := engine.ParseEnding("happily"); err == nil {
		t.Error("an ending that does not exist was parsed")
	}
	if got, want := len(engine.Classes()), 11; got != want {
		t.Errorf("%d classes, want %d", got, want)
	}
}

func TestFailSortsErrors(t *testing.T) {
	session := &engine.TimeoutError{What: "session", Limit: time.Second}
	for _, c := range []struct {
		err     error
		outcome engine.Outcome
		class   engine.Class
	}{
		{errors.New("x"), engine.Failed, engine.Script},
		{engine.Fail(engine.Network, "no route"), engine.Failed, engine.Network},
		{fmt.Errorf("call: %w", engine.Fail(engine.BadAnswer, "x")), engine.Failed, engine.BadAnswer},
		{session, engine.TimedOut, engine.Timeout},
		{&engine.StepError{Class: engine.Network, Err: session}, engine.TimedOut, engine.Timeout},
		{&engine.StepError{Class: engine.Timeout, Err: &engine.TimeoutError{What: "step", Limit: 1}}, engine.Failed, engine.Timeout},
		{fmt.Errorf("call: %w", engine.ErrCut), engine.Cut, engine.Script},
	} {
		var row engine.SessionRow
		row.Fail("a.b", c.err)
		if row.Outcome != c.outcome || row.Class != c.class || row.Path != "a.b" || row.Error != c.err.Error() {
			t.Errorf("%v: %v, %v at %q; want %v, %v", c.err, row.Outcome, row.Class, row.Path, c.outcome, c.class)
		}
	}
}

func TestClockAt(t *testing.T) {
	c := engine.Clock{Start: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Cycle: time.Hour}
	if got, want := c.At(25), time.Date(2030, 1, 2, 1, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("cycle 25 is at %v, want %v", got, want)
	}
}
