package schedule

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// TestCountdown checks that it ends at its time, on request, with its context, and when a machine wakes up after its time.
func TestCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var shown []string
		c := Countdown{At: began.Add(2500 * time.Millisecond), Show: func(left time.Duration) { shown = append(shown, Text(left)) }}
		if late, err := c.Wait(t.Context()); err != nil || late != 0 || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("took %v: %v, %v", time.Since(began), late, err)
		}
		if len(shown) != 3 || shown[0] != "3 s" || shown[2] != "1 s" {
			t.Errorf("shown: %q", shown)
		}

		start := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(start) })
		began = time.Now()
		if _, err := (Countdown{At: began.Add(time.Hour), Start: start}).Wait(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("started on request after a second: took %v: %v", time.Since(began), err)
		}

		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		if _, err := (Countdown{At: time.Now().Add(time.Hour)}).Wait(ctx); !errors.Is(err, gone) {
			t.Errorf("canceled: %v", err)
		}

		began = time.Now()
		slept := func() time.Time { // two hours, from the fourth second on
			if now := time.Now(); now.Sub(began) < 4*time.Second {
				return now
			}
			return time.Now().Add(2 * time.Hour)
		}
		late, err := Countdown{At: began.Add(time.Hour), Clock: slept}.Wait(t.Context())
		if err != nil || time.Since(began) != 4*time.Second || late < time.Hour {
			t.Errorf("after a sleep: took %v, %v late: %v", time.Since(began), late, err)
		}
	})
}

// TestQueued checks that a start time is in the queue, that its priority can be changed there, and that it can be canceled.
func TestQueued(t *testing.T) {
	q := queue.Of(t.TempDir(), slog.New(slog.DiscardHandler))
	entry := queue.Entry{Work: "the experiment prices", Priority: 1}
	c := Countdown{At: time.Now().Add(time.Hour), Queue: q, Entry: &entry, Start: make(chan struct{})}
	c.Show = func(time.Duration) { // the first look
		all, err := q.List()
		if err != nil || len(all) != 1 || all[0].Work != entry.Work || all[0].Next || !all[0].Start.Equal(c.At) {
			t.Fatalf("%+v, %v", all, err)
		}
		if all[0].Priority == 1 {
			if err := q.Prioritize(all[0].ID, 7); err != nil {
				t.Error(err)
			}
			return
		}
		if err := q.Cancel(all[0].ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Wait(t.Context()); !errors.Is(err, queue.ErrCanceled) {
		t.Errorf("canceled: %v", err)
	}
	if entry.Priority != 7 || entry.Since.IsZero() {
		t.Errorf("the entry is %+v", entry)
	}
	if all, err := q.List(); err != nil || len(all) > 0 {
		t.Errorf("left: %+v, %v", all, err)
	}
	start := make(chan struct{})
	close(start)
	c.Show, c.Start = nil, start
	if _, err := c.Wait(t.Context()); err != nil || !entry.Start.IsZero() {
		t.Errorf("started early: %v; it would wait for %v in the queue", err, entry.Start)
	}
}
