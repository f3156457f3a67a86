// Package faults tests runs while something around them fails. Each fault is real, begins and ends on request, and
// afterwards the rows in the database are compared with the local store. The files of a run are in one folder.
package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Fault is a failure between a run and its database.
type Fault struct {
	Name string
	// Says is part of the message to users while it lasts; "" if there is none.
	Says string
	// Begin begins the fault and returns a function that ends it.
	Begin func(s *Site) (end func())
	// Place returns the location of the run's database; nil uses the server of the test.
	Place func(t testing.TB, o *Options)
	// Refuses is set if the database rejects rows.
	Refuses bool
	// Passing is set if the fault ends by itself, so that its message may not be seen.
	Passing bool
	// Most is the maximum time until the message appears; 0 is 30 s.
	Most time.Duration
}

// Long is the minimum duration of a fault for a useful measurement of speed.
const Long = 5 * time.Second

// Row is the result of a run under a fault.
type Row struct {
	Fault      string
	Lasted     time.Duration // duration of the fault
	Told       time.Duration // time from its beginning until the message; 0 without a message
	Back       time.Duration // time from its end until rows arrived again
	Calm       float64       // sessions per second before it
	Under      float64       // sessions per second during it
	Counts     Counts
	Aside      int64 // units that the server rejected: sessions with their events
	Reconnects int64
	Words      string // the message to users
}

// Header and String format rows as a Markdown table.
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

// Run executes a run under a fault of a given duration, and counts rows. The files of the run are in s.Data at the end.
func (f *Fault) Run(t testing.TB, o Options, length time.Duration) (Row, *Site) {
	t.Helper()
	if f.Place != nil {
		f.Place(t, &o)
	}
	if length < Long && o.Limit == 0 {
		o.Limit = 5 // limits the load of many faults on a small machine
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
		s.within(max(f.Most, 30*time.Second), "the message appears: "+f.Says, func() bool { return s.told(f.Says) })
		r.Told = time.Since(began)
		r.Words, _ = s.Remote.Words()
		if since := s.status().Since; !f.Refuses && since.Before(began) {
			t.Errorf("%s: the message is from %v, the fault from %v", f.Name, since, began)
		}
	}
	s.Checkpoint()
	r.Under = s.speed(some)
	s.wait(length - time.Since(began))
	if text, trouble := s.Words(); f.Says != "" && !f.Refuses && (!trouble || !strings.Contains(text, " rows wait here; nothing is lost")) {
		t.Errorf("%s: the message is %q", f.Name, text)
	} else if f.Says == "" && !f.Passing && trouble {
		t.Errorf("%s: want no message, got %q", f.Name, text)
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
