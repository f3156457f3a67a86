package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestCutJournalsNoAnswer cuts a call at each of its stages, and checks that the intent remains, without a row or an
// answer.
func TestCutJournalsNoAnswer(t *testing.T) {
	for name, answer := range map[string]reply{
		"in flight":        {hangs: true},
		"between attempts": {status: 500},
		"waiting out":      {status: 429},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cut := context.WithCancel(t.Context())
				st := stage{ctx: ctx, journal: &enginetest.Journal{}}
				h := client(t, &script{answers: []reply{answer}}, Limits{Timeout: time.Hour})
				time.AfterFunc(time.Millisecond, cut)
				var got error
				row := st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					c.Retry = engine.Retry{Attempts: 1000, Wait: time.Hour, Max: time.Hour}
					_, got = h.Do(c, Request{Method: "POST", Target: must(t, "/")})
					end(s, c, got)
				})
				if row != nil || !errors.Is(got, engine.ErrCut) {
					t.Errorf("row %+v, error %v", row, got)
				}
				if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != 0 {
					t.Errorf("%d answers", n)
				}
				if n := len(enginetest.Of[engine.IntentRow](st.journal)); n != 1 {
					t.Errorf("%d intents, want 1", n)
				}
			})
		})
	}
}

// TestIntentThatCannotBeWritten checks that nothing is sent before its intent is durable, and that a session whose intent cannot be
// written is cut, not failed.
func TestIntentThatCannotBeWritten(t *testing.T) {
	tests := []struct {
		name string
		stop func(j *enginetest.Journal, cut func())
	}{
		{"the run is cut", func(_ *enginetest.Journal, cut func()) { cut() }},
		{"the journal dies", func(j *enginetest.Journal, _ func()) { j.Die() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cut := context.WithCancel(t.Context())
				defer cut()
				st := stage{ctx: ctx, journal: &enginetest.Journal{}}
				fake := &script{answers: []reply{ok200("")}}
				h := client(t, fake, Limits{})
				var got error
				var held time.Duration
				row := st.play(t, func(s *engine.Session) {
					st.journal.Break(errors.New("the disk is full"))
					time.AfterFunc(time.Minute, func() { tt.stop(st.journal, cut) })
					c := callOf(s, "step")
					_, got = h.Do(c, Request{Method: "POST", Target: must(t, "/")})
					held = c.Record.Throttled
					end(s, c, got)
				})
				if row != nil || !errors.Is(got, engine.ErrCut) || len(fake.requests()) != 0 {
					t.Errorf("row %+v, error %v, %d requests", row, got, len(fake.requests()))
				}
				if held < time.Minute {
					t.Errorf("held %s", held)
				}
			})
		})
	}
}
