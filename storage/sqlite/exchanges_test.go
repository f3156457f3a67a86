package sqlite

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// TestContentIsKeptUpToASize keeps exchanges of two cycles, reads those of one agent, and stops at the size.
func TestContentIsKeptUpToASize(t *testing.T) {
	store, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	const id engine.RunID = "20300301-120000-abcd"
	if err := store.Create(t.Context(), engine.RunRecord{ID: id, Settings: engine.DefaultSettings(), Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	keep := func(most int64) *Content {
		c, err := store.KeepContent(t.Context(), id, most, func(e *engine.Exchange) { e.Prompt = "masked" })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := keep(1000)
	at := time.UnixMicro(1_900_000_000_123_456).UTC()
	for cycle := range 2 {
		for agent := range 3 {
			if !c.Wants() {
				t.Fatal("nothing is kept yet, and it does not want any")
			}
			c.Keep(engine.Exchange{
				Place: engine.Place{Cycle: cycle, Agent: agent}, At: at.Add(time.Duration(agent) * time.Millisecond), Path: "talk", Headers: "Authorization: x",
				Speech: engine.Speech{Speaker: "Ada", Prompt: "secret", Reply: "The harbor first."},
			})
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := store.Exchanges(t.Context(), id, storage.ExchangeQuery{Cycle: 1, Lo: 1, Hi: 1})
	if err != nil || len(got) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if e := got[0]; e.Agent != 1 || e.Cycle != 1 || e.Reply != "The harbor first." || e.Prompt != "masked" || e.Headers != "" || !e.At.Equal(at.Add(time.Millisecond)) {
		t.Errorf("got %+v", e)
	}
	if got, err = store.Exchanges(t.Context(), id, storage.ExchangeQuery{Cycle: 1, Hi: 9, To: at.Add(-time.Hour)}); err != nil || len(got) > 0 {
		t.Errorf("before they were made: %d, %v", len(got), err)
	}
	n, err := store.ContentSize(t.Context(), id)
	if err != nil || n == 0 {
		t.Errorf("a size of %d, %v", n, err)
	}
	if full := keep(n); full.Wants() {
		t.Error("the size is used up, and it wants more")
	}
}
