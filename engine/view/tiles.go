package view

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/figures"
)

// TileKind is a figure that tells at a glance how a run is doing.
type TileKind uint8

// The figures of tiles.
const (
	ThroughputTile TileKind = iota
	LatencyTile
	FailureTile
	ActiveTile
	CostTile
	ActedTile
)

// Tile is a key figure of a run in progress.
type Tile struct {
	Kind                 TileKind
	Caption, Value, Note string
}

// TileOptions say what kind of run the tiles are for.
type TileOptions struct {
	Acted string // the event of a session that acted; "" if not set
	World bool   // its agents send messages to each other
	Past  bool   // a moment of the history
}

// Tiles returns the four figures that matter most for a run: throughput, latency, failures, and sessions in flight. Where models
// cost, the cost replaces the sessions in flight; in a world, what agents did replaces the latency.
func Tiles(s *engine.Snapshot, o TileOptions) []Tile {
	all := []Tile{throughputTile(s, o), latencyTile(s), failureTile(s, o), activeTile(s)}
	if s.Usage.Cost > 0 || s.Usage.Unpriced > 0 {
		all[3] = Tile{CostTile, "Cost", engine.FormatCost(&s.Usage), engine.Counted(s.Usage.Calls, "model call", "model calls")}
		if u := &s.Usage; u.Cached > 0 {
			all[3].Note += fmt.Sprintf(", %.0f%% of tokens in cached", 100*float64(u.Cached)/float64(max(u.Input, 1)))
		}
	}
	if o.World && o.Acted != "" {
		all[1] = actedTile(s, o)
	}
	return all
}

func throughputTile(s *engine.Snapshot, o TileOptions) Tile {
	note := DoneIn(s).String()
	if overall(s, o.Past) {
		note += ", mean"
	}
	return Tile{ThroughputTile, "Throughput", Throughput(s, o.Past), note}
}

// Throughput formats the sessions per second: of the last seconds, or of the whole run once it has ended. past says that the snapshot
// is a moment of the history.
func Throughput(s *engine.Snapshot, past bool) string {
	if overall(s, past) {
		return FormatPerSecond(float64(s.Ended) / s.Elapsed.Seconds())
	}
	return FormatPerSecond(s.PerSecond)
}

// overall reports whether the throughput is that of the whole run.
func overall(s *engine.Snapshot, past bool) bool {
	return s.Phase == engine.Ended && s.Elapsed > 0 && !past
}

// LatencyCaption names the latency that a run is judged by.
const LatencyCaption = "Latency p95"

// LatencyP95 formats the 95th percentile of sessions, or "–" if there are none.
func LatencyP95(q *engine.Quantiles) string {
	if q.Count == 0 {
		return "–"
	}
	return engine.FormatDuration(q.P95)
}

func latencyTile(s *engine.Snapshot) Tile {
	q, note := s.Active, "sessions that did something"
	if q.Count == 0 {
		q, note = s.Latency, "all sessions"
	}
	if q.Count == 0 {
		note = "no session has ended"
		if s.Ended > 0 { // in the history: none in this cycle yet
			note = "no session has ended in this cycle"
		}
	}
	return Tile{LatencyTile, LatencyCaption, LatencyP95(&q), note}
}

func failureTile(s *engine.Snapshot, o TileOptions) Tile {
	bad := s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut]
	note := FormatShare(bad, s.Ended) + " of sessions"
	switch {
	case o.Past:
		note = "in its cycle"
	case bad == 0:
		note = "none failed or timed out"
	}
	return Tile{FailureTile, "Failures", engine.FormatCount(bad), note}
}

func activeTile(s *engine.Snapshot) Tile {
	return Tile{ActiveTile, "Active", engine.FormatCount(int64(InFlight(s))), "limit " + engine.FormatCount(int64(s.Limit))}
}

func actedTile(s *engine.Snapshot, o TileOptions) Tile {
	name := strings.ReplaceAll(o.Acted, "_", " ")
	return Tile{ActedTile, strings.ToUpper(name[:1]) + name[1:], engine.FormatCount(s.Metrics.Acted), FormatShare(s.Metrics.Acted, s.Metrics.Ended) + " of sessions"}
}

// FormatPerSecond formats a rate with two or three digits, or with all digits before the decimal point.
func FormatPerSecond(v float64) string { return figures.PerSecond(v) }

// FormatShare formats a share in percent.
func FormatShare(part, whole int64) string {
	if whole <= 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case p > 0 && p < 0.1:
		return "< 0.1%"
	case p > 0 && p < 10:
		return fmt.Sprintf("%.1f%%", p)
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}
