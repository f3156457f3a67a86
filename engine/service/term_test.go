package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTermEnds checks each reason for the end of an attempt's context, in it and in contexts derived from it.
func TestTermEnds(t *testing.T) {
	errCall := errors.New("the call's")
	for name, tt := range map[string]struct {
		end  func(r *renewal, call context.CancelCauseFunc)
		want error
	}{
		"its time":         {func(*renewal, context.CancelCauseFunc) { time.Sleep(time.Minute) }, errAttemptTimeout},
		"the machine woke": {func(r *renewal, _ context.CancelCauseFunc) { r.renew() }, errRenewed},
		"its call":         {func(_ *renewal, call context.CancelCauseFunc) { call(errCall) }, errCall},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r renewal
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				once := new(Call).attempt(ctx, &r, time.Minute)
				defer once.stop()
				below, stop := context.WithCancel(once)
				defer stop()
				heard, gone := 0, 0
				once.AfterFunc(func() { heard++ })
				if !once.AfterFunc(func() { gone++ })() {
					t.Error("a function that was not called cannot be taken out")
				}
				if err := once.Err(); err != nil {
					t.Fatalf("the context has ended early: %v", err)
				}
				tt.end(&r, cancel)
				synctest.Wait()
				<-once.Done()
				<-below.Done()
				if got := once.reason(); !errors.Is(got, tt.want) {
					t.Errorf("it ended with %v, want %v", got, tt.want)
				}
				if once.Err() == nil || below.Err() == nil || heard != 1 || gone != 0 {
					t.Errorf("errors %v and %v, notified %d and %d times", once.Err(), below.Err(), heard, gone)
				}
				late := make(chan struct{})
				if stop := once.AfterFunc(func() { close(late) }); stop() {
					t.Error("a function that is called can be taken out")
				}
				<-late
			})
		})
	}
}

// TestTermEndsWithItsCall checks that an attempt ends together with its call, whether it began before or after that.
func TestTermEndsWithItsCall(t *testing.T) {
	errCall := errors.New("the call's")
	for name, ended := range map[string]func(*term) bool{
		"done": func(once *term) bool {
			select {
			case <-once.Done():
				return true
			default:
				return false
			}
		},
		"error": func(once *term) bool { return once.Err() != nil },
		"cause": func(once *term) bool { return errors.Is(once.reason(), errCall) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			before := new(Call).attempt(ctx, &renewal{}, time.Minute)
			defer before.stop()
			cancel(errCall)
			after := new(Call).attempt(ctx, &renewal{}, time.Minute)
			defer after.stop()
			if !ended(before) || !ended(after) {
				t.Error("the context continues without its call")
			}
		})
	}
}

// TestTermIsOver checks that a stopped attempt leaves nothing behind, and that one that must be sent at most once is not renewed.
func TestTermIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r renewal
		once := new(Call).attempt(t.Context(), &r, time.Minute)
		once.stop()
		if err := once.reason(); !errors.Is(err, context.Canceled) || len(r.under) > 0 {
			t.Errorf("it ended with %v, %d attempts are under way", err, len(r.under))
		}
		only := (&Call{Once: true}).attempt(t.Context(), &r, 0)
		defer only.stop()
		r.renew()
		time.Sleep(time.Hour)
		if err := only.reason(); err != nil {
			t.Errorf("a call without a timeout that must not be sent twice ended with %v", err)
		}
	})
}

// TestTermRestarts checks an attempt that shows progress.
func TestTermRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		once := new(Call).attempt(t.Context(), &renewal{}, time.Minute)
		defer once.stop()
		time.Sleep(40 * time.Second)
		once.restart()
		<-once.Done()
		if took := time.Since(began); took != 100*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}
