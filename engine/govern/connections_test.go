package govern

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func TestConnectionsKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "50 of 60 at 40", governor: "connections", start: start, seeds: 10, seconds: 1800, from: 300, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, own: 0.75, others: constant(20), most: 60} },
			distance: 0.10, oscillation: 0.12,
		}
		c.run(t)
	}
}

// Other clients use 15 connections more for ten minutes.
func TestConnectionsLeaveRoom(t *testing.T) {
	for seed := range uint64(10) {
		others := func(t float64) float64 {
			if t > 600 && t < 1200 {
				return 35
			}
			return 20
		}
		p := &plant{agents: 372, mean: 1, own: 0.75, others: others, most: 60}
		p.start(seed, 50)
		governor := governorOf(t, "connections")
		drive(t, governor, p, 600)
		during := drive(t, governor, p, 600).settled(60, 20)
		after := drive(t, governor, p, 600).settled(120, 40)
		if math.Abs(during.distance) > 0.15 || math.Abs(after.distance) > 0.10 {
			t.Errorf("seed %d: during %+v, after %+v", seed, during, after)
		}
	}
}

func TestConnectionsMoves(t *testing.T) {
	for _, c := range []struct {
		name        string
		connections engine.Connections
		busy        float64
		seconds     int
		want        int
		why         string
	}{
		{"not known", engine.Connections{Own: -1, Server: -1, Max: -1}, 1, 60, 40, ""},
		{"no database", engine.Connections{}, 1, 60, 40, ""},
		{"too many", engine.Connections{Own: 30, InUse: 30, Server: 54, Max: 60}, 1, 5, 35, "40 → 35: 54 of the server's 60 connections in use, 30 by Throng"},
		{"far too many", engine.Connections{Own: 36, InUse: 36, Server: 60, Max: 60}, 1, 5, 29, "40 → 29: 60 of the server's 60 connections in use, 36 by Throng"},
		{"most by others", engine.Connections{Own: 12, InUse: 12, Server: 60, Max: 60}, 1, 5, 20, "40 → 20: 60 of the server's 60 connections in use, 12 by Throng"},
		{"all by others, perhaps for the sessions", engine.Connections{Own: 4, InUse: 4, Server: 58, Max: 60}, 1, 5, 34, "40 → 34: 58 of the server's 60 connections in use, 4 by Throng"},
		{"idle ones are closed first", engine.Connections{Own: 38, InUse: 10, Idle: 28, Server: 60, Max: 60}, 1, 60, 40, ""},
		{"too many without the idle ones", engine.Connections{Own: 35, InUse: 30, Idle: 5, Server: 59, Max: 60}, 1, 5, 35, "40 → 35: 54 of the server's 60 connections in use, 30 by Throng"},
		{"a pooler's", engine.Connections{Own: 60, Server: 20, Max: 60}, 1, 5, 50, "40 → 50: 20 of the server's 60 connections in use, below 50"},
		{"owner unknown", engine.Connections{Own: -1, Server: 55, Max: 60}, 1, 5, 36, "40 → 36: 55 of the server's 60 connections in use"},
		{"none by Throng itself", engine.Connections{Own: 0, InUse: 0, Server: 55, Max: 60}, 1, 5, 36, "40 → 36: 55 of the server's 60 connections in use, 0 by Throng"},
		{"between warning and high", engine.Connections{Own: 30, InUse: 30, Server: 51, Max: 60}, 1, 60, 40, ""},
		{"room", engine.Connections{Own: 10, InUse: 10, Server: 20, Max: 60}, 1, 5, 80, "40 → 80: 20 of the server's 60 connections in use, below 50"},
		{"room for some", engine.Connections{Own: 20, InUse: 20, Server: 35, Max: 60}, 1, 5, 70, "40 → 70: 35 of the server's 60 connections in use, below 50"},
		{"room for few takes a longer look", engine.Connections{Own: 20, InUse: 20, Server: 48, Max: 60}, 1, 9, 40, ""},
		{"room, but the limit is not reached", engine.Connections{Own: 10, InUse: 10, Server: 20, Max: 60}, 0.2, 60, 40, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, engine.Steering{Governor: "connections", Floor: 1, Ceiling: 100})
			s.r.Limit, s.r.InFlight, s.r.Connections, s.r.Busy = 40, 40, c.connections, c.busy
			var o engine.Orders
			for i := range c.seconds {
				if o = s.ends(10, 0); o.Limit != 40 && i+1 < c.seconds {
					t.Fatalf("moved after %d s: %s", i+1, o.Why)
				}
			}
			if o.Limit != c.want || o.Why != c.why {
				t.Errorf("got %d %q, want %d %q", o.Limit, o.Why, c.want, c.why)
			}
		})
	}
}

// TestConnectionsOfOthers checks a server that other clients fill independently of the run: the limit is lowered once
// as a test, and returns. If the others hold their connections for the sessions, as a service under test does, the
// limit stays low.
func TestConnectionsOfOthers(t *testing.T) {
	for _, c := range []struct {
		name  string
		held  float64 // by Throng, per session
		serve float64 // by a service, per session
		other int     // by others
		from  int     // lower bound of the settled limit
		to    int
	}{
		{"others", 0, 0, 58, 60, 60},
		{"others, and few by Throng", 0.05, 0, 56, 60, 60},
		{"others, and some by Throng", 0.25, 0, 50, 20, 28},
		{"a service, for the sessions", 0, 0.9, 4, 48, 56},
		{"Throng", 1, 0, 4, 44, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, engine.Steering{Governor: "connections", Floor: 1, Ceiling: 60})
			s.r.Limit, s.r.Busy = 60, 1
			low := 60
			for range 600 {
				n := float64(s.r.Limit)
				held := int(math.Round(c.held * n))
				s.r.InFlight = s.r.Limit
				s.r.Connections = engine.Connections{Own: held, InUse: held, Server: min(held+int(math.Round(c.serve*n))+c.other, 60), Max: 60}
				s.r.Limit = s.ends(10, 0).Limit
				low = min(low, s.r.Limit)
			}
			if s.r.Limit < c.from || s.r.Limit > c.to || low < min(c.from, 44) {
				t.Errorf("the limit comes to %d, and was %d, want %d to %d", s.r.Limit, low, c.from, c.to)
			}
		})
	}
}

// TestIdleConnectionsNeverThrottle checks that Throng's own idle connections, however many, never lower the limit.
func TestIdleConnectionsNeverThrottle(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newScript(t, engine.Steering{Governor: "connections", Floor: 1, Ceiling: 200})
		s.r.Limit = rapid.IntRange(1, 100).Draw(r, "limit")
		for range rapid.IntRange(1, 100).Draw(r, "seconds") {
			held, others := rapid.IntRange(0, 30).Draw(r, "held"), rapid.IntRange(0, 23).Draw(r, "others")
			idle := rapid.IntRange(0, 60-held-others).Draw(r, "idle")
			s.r.InFlight, s.r.Busy = rapid.IntRange(0, s.r.Limit).Draw(r, "in flight"), rapid.Float64Range(0, 1).Draw(r, "busy")
			s.r.Connections = engine.Connections{Own: held + idle, InUse: held, Idle: idle, Server: held + idle + others, Max: 60}
			o := s.ends(10, 0)
			if o.Limit < s.r.Limit {
				r.Fatalf("%s", o.Why)
			}
			s.r.Limit = o.Limit
		}
	})
}
