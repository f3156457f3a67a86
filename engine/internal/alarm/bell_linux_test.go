package alarm

import (
	"testing"
	"time"
)

// TestBell checks that the bell rings at its time, which the timer behind it would hide, and not after it was closed.
func TestBell(t *testing.T) {
	b := newBell()
	if b == nil {
		t.Fatal("there is no bell")
	}
	const d = time.Millisecond
	began := time.Now()
	b.set(d)
	if !b.wait() {
		t.Error("it did not ring")
	}
	if took := time.Since(began); took < d {
		t.Errorf("it rang after %v, want %v", took, d)
	}
	b.set(time.Hour)
	go b.close()
	if b.wait() {
		t.Error("it rang although it was closed")
	}
	b.set(d) // does nothing
}
