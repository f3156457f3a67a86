package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// waiter runs throngctl in this process while a test sends it signals.
type waiter struct {
	signals, byHand chan os.Signal
	said            chan string // standard error, as long as there is space

	mu   sync.Mutex
	text bytes.Buffer
}

// Write records the text on standard error.
func (w *waiter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.said <- string(text):
	default:
	}
	return w.text.Write(text)
}

func (w *waiter) err() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *waiter) ctl(args ...string) int {
	var out bytes.Buffer
	return execute(args, &terminal{
		in: strings.NewReader(""), out: &out, err: w, signals: w.signals, byHand: w.byHand, hooks: hooks{cores: 4, env: []string{asToolEnv + "=1"}},
	})
}

// TestStartLater checks that a run waits for its start with a countdown and without a lock on the store, can be canceled,
// and starts immediately on request.
func TestStartLater(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal func(h *waiter)
		code   int
		said   string
	}{
		{"cancel", func(h *waiter) { h.signals <- os.Interrupt }, exitInterrupted, "Canceled: nothing was started."},
		{"start", func(h *waiter) { h.byHand <- os.Interrupt }, exitDone, "Starts at "},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := t.TempDir()
			h := &waiter{signals: make(chan os.Signal, 1), byHand: make(chan os.Signal, 1), said: make(chan string, 100)}
			done := make(chan int, 1)
			go func() {
				done <- h.ctl("run", "shopping", "--agents", "shopper-1", "--mock-latency", "none", "--cycles", "1", "--at", "+1h", "--data", data)
			}()
			for text := range h.said {
				if strings.Contains(text, "Starts at ") {
					break
				}
			}
			if code, _, stderr := ctl(t, "run", "analysis", "--mock-latency", "none", "--data", data); code != exitDone {
				t.Errorf("another run cannot run meanwhile: %s", stderr)
			}
			c.signal(h)
			if code := <-done; code != c.code || !strings.Contains(h.err(), c.said) {
				t.Errorf("exit code %d: %s", code, h.err())
			}
			_, runs, _ := ctl(t, "runs", "--data", data)
			if got, want := strings.Contains(runs, "Marketplace"), c.code == exitDone; got != want {
				t.Errorf("runs:\n%s", runs)
			}
		})
	}
	began := time.Now()
	if code, _, stderr := ctl(t, "run", "shopping", "--at", "25:00", "--data", t.TempDir()); code != exitUsage || !strings.Contains(stderr, "is not a time") {
		t.Errorf("exit code %d after %v: %s", code, time.Since(began), stderr)
	}
}
