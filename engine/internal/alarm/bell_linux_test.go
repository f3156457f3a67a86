package alarm

import (
	"testing"
	"time"
)

// TestBell checks that the bell rings on time, which the fallback timer would hide, and that it does not ring after it
// was closed.
func TestBell(t *testing.T) {
	b := newBell()
	if b == nil {
		t.Fatal("there is no bell")
	}
	const d = time.Millisecond
	began := time.Now()
	b.set(d)
	if !b.wait() {
		t.Error("the bell did not ring")
	}
	if took := time.Since(began); took < d {
		t.Errorf("it rang after %v, want %v", took, d)
	}
	b.set(time.Hour)
	go b.close()
	if b.wait() {
		t.Error("the bell rang although it was closed")
	}
	b.set(d) // does nothing
}
