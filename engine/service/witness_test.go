package service

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestWitness checks that the witness is notified of each attempt after its intent is durable and before it is sent,
// with its key, and of each whole response before it is journaled.
func TestWitness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &script{answers: []reply{{status: 500, body: "no"}, {err: fmt.Errorf("reset")}, {status: 201, body: "made"}}}
		h := client(t, service, Limits{})
		st := stage{journal: &enginetest.Journal{}}
		var heard []string
		note := func(what string) {
			heard = append(heard, fmt.Sprintf("%s, %d requests, %d intents, %d answers", what, len(service.requests()),
				len(enginetest.Of[engine.IntentRow](st.journal)), len(enginetest.Of[engine.AnswerRow](st.journal))))
		}
		h.Observe(Witness{
			Leaving: func(header http.Header) { note("leaving " + header.Get("Idempotency-Key")) },
			Arrived: func() { note("arrived") },
		})
		st.play(t, func(s *engine.Session) {
			call := callOf(s, "step")
			_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x")})
			end(s, call, err)
		})
		want := []string{
			"leaving run/0/0/step/e81054c25166c427, 0 requests, 1 intents, 0 answers", "arrived, 1 requests, 1 intents, 0 answers",
			"leaving run/0/0/step/e81054c25166c427, 1 requests, 1 intents, 0 answers", "leaving run/0/0/step/e81054c25166c427, 2 requests, 1 intents, 0 answers",
			"arrived, 3 requests, 1 intents, 0 answers",
		}
		if !slices.Equal(heard, want) {
			t.Errorf("got\n%q\nwant\n%q", heard, want)
		}
		if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != 1 {
			t.Errorf("%d answers are journaled", n)
		}
	})
}

// TestWitnessOfStatements checks that the witness is notified of a statement before it is sent and when its rows have
// arrived.
func TestWitnessOfStatements(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address, "create table t (x int)")
	var left, arrived []int
	p.Observe(Witness{
		Leaving: func(h http.Header) {
			if h != nil {
				t.Errorf("a statement has headers %v", h)
			}
			left = append(left, number(t, address, "select count(*) from t"))
		},
		Arrived: func() { arrived = append(arrived, number(t, address, "select count(*) from t")) },
	})
	st := stage{journal: &enginetest.Journal{}}
	if row, _ := p.ask(t, st, sql(t, "insert into t values (1)"), nil); row.Class != engine.NoError {
		t.Fatal(row.Error)
	}
	if !slices.Equal(left, []int{0}) || !slices.Equal(arrived, []int{1}) {
		t.Errorf("rows at leaving %v, at arriving %v", left, arrived)
	}
}
