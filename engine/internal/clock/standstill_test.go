package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse checks what a late beat means.
func TestPulse(t *testing.T) {
	began := time.Unix(2e9, 0)
	for _, c := range []struct {
		p    *pulse
		late time.Duration
		want time.Duration
	}{
		{nil, time.Hour, 0},
		{&pulse{lost: time.Second}, time.Hour, time.Second}, // no watcher
		{&pulse{began, 0}, beat, 0},
		{&pulse{began, 0}, beat + slack, 0},
		{&pulse{began, time.Minute}, 3 * time.Second, time.Minute + 3*time.Second - beat},
		{&pulse{began, time.Minute}, -time.Hour, time.Minute},
	} {
		now := began
		if c.p != nil && !c.p.at.IsZero() {
			now = c.p.at
		}
		if got := c.p.lostAt(now.Add(c.late)); got != c.want {
			t.Errorf("%+v, %v later: %v, want %v", c.p, c.late, got, c.want)
		}
	}
}

// TestNothingStandsStillInVirtualTime checks that standstills are ignored in virtual time.
func TestNothingStandsStillInVirtualTime(t *testing.T) {
	defer Watch()()
	synctest.Test(t, func(t *testing.T) {
		release := Watch()
		defer release()
		before := Lost()
		time.Sleep(time.Hour)
		if Lost() != before {
			t.Error("an hour of virtual time counts as a standstill")
		}
		var timer Timer
		rang := make(chan time.Time, 1)
		began := time.Now()
		timer.Start(time.Minute, func() { rang <- time.Now() })
		time.Sleep(30 * time.Second)
		timer.Again()
		if took := (<-rang).Sub(began); took != 90*time.Second {
			t.Errorf("the timer fired after %v", took)
		}
		timer.Stop()
		timer.Again()
	})
}

// TestSuspensionMovesTheEnd simulates a standstill while a clock and a timer run, and checks that neither counts that
// time, however short it is.
func TestSuspensionMovesTheEnd(t *testing.T) {
	const limit, stood = 200 * time.Millisecond, time.Second
	release := Watch()
	defer release()
	c := New(t.Context(), limit, errOut)
	defer c.Stop()
	var timer Timer
	rang := make(chan time.Time, 1)
	timer.Start(limit, func() { rang <- time.Now() })
	defer timer.Stop()
	began := time.Now()
	watchers.Lock() // as if the process had stood still and the beat came late
	newest.Store(&pulse{time.Now(), newest.Load().lost + stood})
	watchers.Unlock()
	<-c.Context().Done()
	if took := time.Since(began); took < stood || !errors.Is(context.Cause(c.Context()), errOut) {
		t.Errorf("the clock ended after %v: %v", took, context.Cause(c.Context()))
	}
	if took := (<-rang).Sub(began); took < stood {
		t.Errorf("the timer fired after %v", took)
	}
}
