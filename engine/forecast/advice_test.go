package forecast

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestAdvice checks each warning, and that the same order with just enough room has none.
func TestAdvice(t *testing.T) {
	full := Order{Agents: 372, Cycles: 10, Limit: 372}
	writing := shop(25, 25)
	writing.Rate = 155 // 56 connections, a cycle of 60 s
	inside := writing
	inside.Inside = true
	model := Service{
		Name: "model", Model: true, Calls: exactly(1), Writes: exactly(0), Latency: exactly(1), WriteLatency: exactly(1),
		Input: exactly(1000), Output: engine.Between(0, 500, engine.Guessed), Cost: exactly(0.01),
	}
	database := func(taken, most int) Machine {
		return Machine{Cores: 2, Database: engine.Connections{Own: -1, Server: taken, Max: most}}
	}
	with := func(change func(*Order)) Order {
		o := full
		change(&o)
		return o
	}
	for _, c := range []struct {
		name    string
		order   Order
		session Session
		machine Machine
		says    []string // parts of the only advice; nil: no advice
	}{
		{"room for all", full, session(writing), database(4, 60), nil},
		{"too few connections", full, session(writing), database(5, 60), []string{"up to 56 connections", "of its 60 others use 5", "pooler"}},
		{"other clients unknown", full, session(writing), database(-1, 55), []string{"of its 55 others use 0"}},
		{"server unknown", full, session(writing), database(-1, -1), nil},
		{"the mock has no database", full, session(inside), database(50, 60), nil},
		{"on time", with(func(o *Order) { o.Every, o.Scale = time.Minute, 60 }), session(writing), anywhere, nil},
		{"behind", with(func(o *Order) { o.Every, o.Scale = 50*time.Second, 72 }), session(writing), anywhere, []string{"will take 1 min", "every 50 s", "time scale of 60"}},
		{"dear", with(func(o *Order) { o.Budget.Dollars = 30 }), session(model), anywhere, []string{"It will cost $37.20", "budget of $30.00", "stop at the budget"}},
		{"cheap", with(func(o *Order) { o.Budget.Dollars = 37.21 }), session(model), anywhere, nil},
		{"perhaps too many tokens", with(func(o *Order) { o.Budget.Tokens = 4_000_000 }), session(model), anywhere, []string{"It may take 5,580,000 tokens", "4,000,000 tokens"}},
		{"too many requests", with(func(o *Order) { o.Budget.Requests = 92_999 }), session(writing), anywhere, []string{"It will make 93,000 requests", "92,999"}},
		{"enough requests", with(func(o *Order) { o.Budget.Requests = 93_000 }), session(writing), anywhere, nil},
		{"too long", with(func(o *Order) { o.Budget.Wall = 9 * time.Minute }), session(writing), anywhere, []string{"It will take 10 min", "9 min"}},
		{"no memory", full, session(writing), Machine{Cores: 2, Available: 1 << 20}, []string{"It will take", "of memory", "1.0 MB left"}},
		{"no disk", full, session(writing), Machine{Cores: 2, DiskFree: 300_000}, []string{"It will take 372 kB of disk", "300 kB is free"}},
	} {
		f := Make(c.order, c.session, c.machine)
		text := strings.Join(f.Advice, "\n")
		if len(f.Advice) != min(len(c.says), 1) || slices.ContainsFunc(c.says, func(s string) bool { return !strings.Contains(text, s) }) {
			t.Errorf("%s: got %q, want %q", c.name, text, c.says)
		}
	}
}

func TestRounded(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 59.999: "59", 60: "60", 1234: "1200", 0.01239: "0.012", 5.55: "5.5", 5.04: "5"} {
		if got := rounded(f); got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}
