package view

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestLines turns kept exchanges and events into a conversation.
func TestLines(t *testing.T) {
	at := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	said := func(after int, path, speaker, reply, to string) engine.Exchange {
		return engine.Exchange{At: at.Add(time.Duration(after) * time.Second), Path: path, Speech: engine.Speech{Speaker: speaker, Reply: reply, To: to, Prompt: "What next?"}}
	}
	event := func(name, data string) engine.Event {
		return engine.Event{Path: "record", Name: name, Data: []byte(data)}
	}
	for _, c := range []struct {
		name string
		turn engine.AgentTurn
		want []string
	}{
		{
			"a conversation, in the order of time and with the names of its event",
			engine.AgentTurn{
				SessionRow: engine.SessionRow{Events: []engine.Event{event("conversation", `{"turns": 2, "lines": [{"name": "Ada", "text": "Hello."}, {"name": "Bo", "text": "So long."}]}`)}},
				Exchanges:  []engine.Exchange{said(2, "talk[0].second", "", "So long. [END]", ""), said(1, "talk[0].first", "", "Hello.", "")},
			},
			[]string{"Ada: Hello.", "Bo: So long.", "[conversation] turns: 2 · lines: 2 items"},
		},
		{
			"a conversation without content",
			engine.AgentTurn{SessionRow: engine.SessionRow{Events: []engine.Event{event("conversation", `{"lines": [{"speaker": "Ada", "text": "Hello."}]}`)}}},
			[]string{"Ada: Hello.", "[conversation] lines: 1 items"},
		},
		{
			"a thought that is sent as a message",
			engine.AgentTurn{
				SessionRow: engine.SessionRow{Events: []engine.Event{event("said", `{"says": "Stop.", "feeling": "angry", "heard": 3}`)}},
				Exchanges:  []engine.Exchange{said(1, "think", "Mara", `{"feeling": "angry", "says": "Stop."}`, ""), said(2, "reach_out", "", "Stop.", "theo")},
			},
			[]string{"Mara to theo: Stop. (feeling: angry)", "[said] heard: 3"},
		},
		{
			"the last attempt counts, and other requests do not",
			engine.AgentTurn{Exchanges: []engine.Exchange{said(1, "rate", "", "No.", ""), said(2, "rate", "", "Yes.", ""), {Path: "order", Answer: "{}"}}},
			[]string{"ada-1: Yes."},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range Lines(&c.turn, "ada-1") {
				got = append(got, l.Sentence())
				if l.ID != "ada-1" || !l.Matches("ADA-1") || l.Matches("nowhere") {
					t.Errorf("line %+v", l)
				}
			}
			if g, w := strings.Join(got, "\n"), strings.Join(c.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// TestTiles chooses the tiles for three kinds of runs.
func TestTiles(t *testing.T) {
	captions := func(s engine.Snapshot, o TileOptions) string {
		var all []string
		for _, tile := range Tiles(&s, o) {
			all = append(all, tile.Caption)
		}
		return strings.Join(all, ", ")
	}
	var costs engine.Snapshot
	costs.Usage.Cost = 1e9
	cached := costs
	cached.Usage.Calls, cached.Usage.Input, cached.Usage.Cached = 2, 4000, 1000
	if got, want := Tiles(&cached, TileOptions{})[3].Note, "2 model calls, 25% of tokens in cached"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for want, got := range map[string]string{
		"Throughput, Latency p95, Failures, Active": captions(engine.Snapshot{}, TileOptions{Acted: "order"}),
		"Throughput, Latency p95, Failures, Cost":   captions(costs, TileOptions{}),
		"Throughput, Said, Failures, Cost":          captions(costs, TileOptions{World: true, Acted: "said"}),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
