package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
)

const ms = time.Millisecond

var began = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

func step(path string, took time.Duration) engine.StepRecord {
	return engine.StepRecord{Path: path, Service: took}
}

func besides(path string, took time.Duration) engine.StepRecord {
	return engine.StepRecord{Path: path, Service: took, Parallel: true}
}

func TestWhenStepsBegan(t *testing.T) {
	held := step("b", 100*ms)
	held.Throttled, held.Attempts = 50*ms, 3
	for _, c := range []struct {
		name      string
		steps     []engine.StepRecord
		exchanges []engine.Exchange
		want      string
	}{
		{"one after the other", []engine.StepRecord{step("a", 100*ms), held, step("c", ms)}, nil, "a 0+100 b 100+150 c 250+1"},
		{"side by side", []engine.StepRecord{step("a", 10*ms), besides("b", 100*ms), besides("c", 30*ms), step("d", ms)}, nil, "a 0+10 b 10+100 c 10+30 d 110+1"},
		{"in blocks", []engine.StepRecord{step("a", 10*ms), step("loop", 0), step("loop[0].x", 20*ms), step("loop[1].x", 30*ms), step("z", ms)}, nil, "a 0+10 [loop 10+50] .[0].x 10+20 .[1].x 30+30 z 60+1"},
		{"a block that took longer than its steps", []engine.StepRecord{step("fork", 90*ms), step("fork.then", 20*ms), step("z", ms)}, nil, "[fork 0+90] .then 0+20 z 90+1"},
		{"blocks in blocks", []engine.StepRecord{step("a", 0), step("a.b", 0), step("a.b.c", 5*ms), step("ab", ms)}, nil, "[a 0+5] .[b 0+5] ..c 0+5 ab 5+1"},
		{
			"known by an exchange",
			[]engine.StepRecord{step("a", 100*ms), held},
			[]engine.Exchange{{Path: "b", Attempt: 1, At: began.Add(400 * ms)}},
			"a 0+100 b 350+150",
		},
	} {
		turn := &engine.AgentTurn{SessionRow: engine.SessionRow{Started: began, Queue: 7 * ms, Steps: c.steps}, Exchanges: c.exchanges}
		s := Timeline(turn, nil)
		var all []string
		for _, b := range s.Bars {
			name := b.Name
			text := fmt.Sprintf("%s %d+%d", name, b.From.Milliseconds(), (b.Throttled + b.Service).Milliseconds())
			if b.Block {
				text = "[" + text + "]"
			}
			all = append(all, strings.Repeat(".", b.Depth)+text)
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if s.Queue != 7*ms {
			t.Errorf("%s: queued %v", c.name, s.Queue)
		}
	}
}

// TestASessionThatGoesOn checks that the steps of a session in progress, including the current one, are derived from
// their exchanges.
func TestASessionThatGoesOn(t *testing.T) {
	turn := engine.AgentTurn{SessionRow: engine.SessionRow{Started: began}, Exchanges: []engine.Exchange{
		{Path: "browse", Attempt: 1, At: began.Add(100 * ms), Took: 30 * ms, Status: 503},
		{Path: "browse", Attempt: 2, At: began.Add(200 * ms), Took: 50 * ms, Status: 200},
		{Path: "pay", Attempt: 1, At: began.Add(300 * ms), Took: 10 * ms, Status: 429},
	}}
	d := &engine.Activity{Path: "pay", Since: began.Add(400 * ms), ThrottledBy: "rate limiter"}
	for range 2 { // again is the same
		turn = Ongoing(turn, d, began.Add(time.Second))
	}
	if title := Title(&turn); title != "cycle 0: in progress" || turn.Total != time.Second {
		t.Errorf("%s, %v", title, turn.Total)
	}
	s := Timeline(&turn, d)
	if len(s.Bars) != 2 {
		t.Fatalf("%d bars", len(s.Bars))
	}
	if b := s.Bars[0]; b.Name != "browse" || b.From != 100*ms || b.Service != 80*ms || b.Retries != 1 {
		t.Errorf("the first is %+v", b)
	}
	if b := s.Bars[1]; b.Name != "pay" || b.From != 400*ms || b.Throttled != 600*ms || b.Service != 0 {
		t.Errorf("the current step is %+v", b)
	}
}

func TestRetriesAreCounted(t *testing.T) {
	s := Timeline(&engine.AgentTurn{SessionRow: engine.SessionRow{Steps: []engine.StepRecord{{Path: "a", Attempts: 3}, {Path: "b"}}}}, nil)
	if s.Bars[0].Retries != 2 || s.Bars[1].Retries != 0 {
		t.Errorf("%d and %d retries", s.Bars[0].Retries, s.Bars[1].Retries)
	}
}

func TestExchangesAsText(t *testing.T) {
	turn := &engine.AgentTurn{Exchanges: []engine.Exchange{
		{Path: "pay", Attempt: 1, Request: "POST /pay", Sent: `{"total": 3}`, Error: "connection reset", Took: 30 * ms},
		{Path: "pay", Attempt: 2, Request: "POST /pay", Sent: `{"total": 3}`, Status: 200, Answer: "paid\n", Took: 400 * ms},
		{Path: "payback", Request: "GET /other"},
		{Path: "ask", Service: "model", Answer: "yes", Kept: true},
	}}
	for _, c := range []struct{ path, want string }{
		{"pay", "POST /pay\n{\"total\": 3}\n— no answer after 30 ms\nconnection reset\n\nPOST /pay  (attempt 2)\n{\"total\": 3}\n— answered 200 after 400 ms\npaid"},
		{"ask", "model\nonly the answer was recorded\n— answered\nyes"},
		{"nothing", ""},
	} {
		if got := Exchanges(turn, c.path); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
	many := &engine.AgentTurn{Exchanges: make([]engine.Exchange, mostExchanges+3)}
	for i := range many.Exchanges {
		many.Exchanges[i] = engine.Exchange{Path: "loop[1].say", Request: "GET /", Answer: "é"}
	}
	got := Exchanges(many, "loop")
	if !strings.HasSuffix(got, "3 more are not shown; Copy as JSON has them.") {
		t.Errorf("%d letters of many exchanges", len(got))
	}
}

func TestWhyASessionEnded(t *testing.T) {
	for _, c := range []struct {
		row         engine.SessionRow
		title, says string
	}{
		{engine.SessionRow{Place: engine.Place{Cycle: 3, Take: 1}, Outcome: engine.OK, Total: 300 * ms}, "cycle 3: ok after 300 ms, attempt 2", ""},
		{engine.SessionRow{Outcome: engine.Stopped, Path: "decide", Because: "no money"}, "cycle 0: stopped after 0 s", "Stopped at decide: no money"},
		{engine.SessionRow{Outcome: engine.Failed, Path: "pay", Class: engine.Timeout, Error: "too late"}, "cycle 0: failed after 0 s", "At pay, timeout: too late"},
	} {
		turn := &engine.AgentTurn{SessionRow: c.row}
		if got := Title(turn); got != c.title {
			t.Errorf("%q, want %q", got, c.title)
		}
		if got := Why(turn); got != c.says {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}

// TestLongTextsAreClipped checks that long texts are cut, because a label with all of it would block the window for
// seconds.
func TestLongTextsAreClipped(t *testing.T) {
	turn := &engine.AgentTurn{}
	for range 12 {
		turn.Exchanges = append(turn.Exchanges, engine.Exchange{Path: "ask", Request: "POST /", Sent: strings.Repeat("q", 9000), Answer: strings.Repeat("a", 9000)})
	}
	if text := Exchanges(turn, "ask"); len(text) > 2*MostText || !strings.Contains(text, "11 more are not shown; Copy as JSON has them.") {
		t.Errorf("%d bytes that end with %q", len(text), text[len(text)-60:])
	}
	long := strings.Repeat("ä", MostText)
	if text := Clip("x" + long); len(text) > MostText+80 || !utf8.ValidString(text) || !strings.Contains(text, "Copy as JSON") {
		t.Errorf("%d bytes", len(text))
	}
	if text := Clip("short"); text != "short" {
		t.Errorf("%q", text)
	}
}
