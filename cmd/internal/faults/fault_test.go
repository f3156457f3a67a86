// Package faults runs scenarios while something around them fails, for tests: each fault with real parts, begun and
// ended at will, and afterwards a count of what arrived to the row. What a run leaves behind lies in one folder.
package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Fault is something that fails between a run and its database.
type Fault struct {
	Name string
	// Says is in the words that a person sees while it lasts; "" where there is nothing to be told.
	Says string
	// Begin has it begin and returns what ends it.
	Begin func(s *Site) (end func())
	// Place says where the database of the run lies; nil is on the server of the test.
	Place func(t testing.TB, o *Options)
	// Refuses is where rows that came while it lasted are set aside.
	Refuses bool
	// Passing is that it ends by itself, so that it may be told for a moment or not.
	Passing bool
	// Most is how long it may take until it is told; 0 is 30 s.
	Most time.Duration
}

// Long is how long a fault lasts at least for the figures of its row to say something about speed.
const Long = 5 * time.Second

// Row is what became of a run under a fault.
type Row struct {
	Fault      string
	Lasted     time.Duration // from its beginning to its end
	Told       time.Duration // from its beginning until a person saw it; 0 where there was nothing to be told
	Back       time.Duration // from its end until rows arrived again
	Calm       float64       // sessions per second before
	Under      float64       // sessions per second while it lasted
	Counts     Counts
	Aside      int64 // units that the server refused: sessions with their events
	Reconnects int64
	Words      string // that a person saw
}

// Header and String are the table in Markdown.
const Header = "| Fault | lasted | told after | back after | sessions/s before, under | rows written | in Postgres | missing | different | duplicates | set aside | reconnects |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|"

func (r Row) String() string {
	told := "–"
	if r.Told > 0 {
		told = short(r.Told)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %.0f, %.0f | %d | %d | %d | %d | %d | %d | %d |", r.Fault, short(r.Lasted), told, short(r.Back),
		r.Calm, r.Under, r.Counts.Written, r.Counts.There, r.Counts.Missing, r.Counts.Different, r.Counts.Doubled, r.Aside, r.Reconnects)
}

func short(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// Run has a run go on under a fault that lasts so long, and counts. The files of the run lie in s.Data at the end.
func (f *Fault) Run(t testing.TB, o Options, length time.Duration) (Row, *Site) {
	t.Helper()
	if f.Place != nil {
		f.Place(t, &o)
	}
	if length < Long && o.Limit == 0 {
		o.Limit = 5 // so that many faults are held at once on a small machine
	}
	s := Open(t, o)
	r := Row{Fault: f.Name}
	some := int64(150)
	if length >= Long {
		some = 1000
	}
	s.Until("rows arrive", func() bool { st := s.status(); return st.Connected && st.Sent > some })
	r.Calm = s.speed(some)

	before := s.Line.Connections()
	began := time.Now()
	end := f.Begin(s)
	if f.Says != "" {
		s.within(max(f.Most, 30*time.Second), "it is told: "+f.Says, func() bool { return s.told(f.Says) })
		r.Told = time.Since(began)
		r.Words, _ = s.Remote.Words()
		if since := s.status().Since; !f.Refuses && since.Before(began) {
			t.Errorf("%s: it is told since %v, and began at %v", f.Name, since, began)
		}
	}
	s.Checkpoint()
	r.Under = s.speed(some)
	s.wait(length - time.Since(began))
	if text, trouble := s.Words(); f.Says != "" && !f.Refuses && (!trouble || !strings.Contains(text, " rows wait here; nothing is lost")) {
		t.Errorf("%s: while it lasts a person reads %q", f.Name, text)
	} else if f.Says == "" && !f.Passing && trouble {
		t.Errorf("%s: there is nothing to be told, and a person reads %q", f.Name, text)
	}
	sent := s.Remote.Sent()
	r.Lasted = time.Since(began)
	end()
	ended := time.Now()
	s.Until("rows arrive again", func() bool {
		_, trouble := s.Words()
		return s.status().Connected && (!trouble || f.Refuses) && s.Remote.Sent() > sent
	})
	r.Back, r.Reconnects = time.Since(ended), s.Line.Connections()-before
	s.speed(some)
	s.Finish()
	r.Aside = s.status().SetAside
	r.Counts = s.Reconcile()
	return r, s
}
