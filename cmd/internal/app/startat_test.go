package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestCountdown checks that it ends at its time, on request, with its context, and when a machine wakes up after its time.
func TestCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var shown []string
		c := Countdown{At: began.Add(2500 * time.Millisecond), Show: func(left time.Duration) { shown = append(shown, CountdownText(left)) }}
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
