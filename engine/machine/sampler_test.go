package machine

import (
	"io"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// settle samples until a reading has arrived, however slow the machine is.
func settle(t *testing.T, s *sampler) engine.HostMetrics {
	t.Helper()
	for was := s.was.at; ; {
		if f := s.sample(); s.was.at.After(was) {
			return f
		}
	}
}

func TestFirstSampleHasNoRates(t *testing.T) {
	f := settle(t, newSampler(t.TempDir()))
	if f.CPU != 0 || f.ProcessCPU != 0 || f.NetIn != 0 || f.NetOut != 0 {
		t.Errorf("rates without a sample before: %+v", f)
	}
	if f.Memory < 1<<20 || f.Memory > f.MemoryTotal || f.Available == 0 || f.Available > f.MemoryTotal {
		t.Errorf("own %d, available %d, total %d bytes of memory", f.Memory, f.Available, f.MemoryTotal)
	}
	if f.DiskFree == 0 {
		t.Error("the disk of the temporary folder has no room at all")
	}
}

func TestWorkIsSeen(t *testing.T) {
	s := newSampler(t.TempDir())
	settle(t, s)
	began, own := s.was, 0.0
	for n := 0; own < 0.2; n++ { // until this process has used 200 ms
		if n%1_000_000 == 0 {
			own = s.read().own - began.own
		}
	}
	f := settle(t, s)
	if most := 100*float64(runtime.NumCPU()) + 25; f.ProcessCPU < 1 || f.ProcessCPU > most {
		t.Errorf("this process uses %.1f%% of a core, want up to %.0f", f.ProcessCPU, most)
	}
	if f.CPU <= 0 || f.CPU > 100 {
		t.Errorf("the machine is at %.1f%% while this process works", f.CPU)
	}
	if s.was.all <= began.all || s.was.busy < began.busy || s.was.in < began.in || s.was.out < began.out {
		t.Errorf("counters went back: from %+v to %+v", began, s.was)
	}
}

func TestMemoryIsSeen(t *testing.T) {
	const size = 64 << 20
	s := newSampler(t.TempDir())
	before := settle(t, s).Memory
	block := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		block[i] = 1
	}
	after := settle(t, s).Memory
	runtime.KeepAlive(block)
	if after < before+size/2 {
		t.Errorf("resident memory went from %d to %d bytes with %d more in use", before, after, size)
	}
}

// TestLoopbackIsCounted checks that the network figures include all interfaces.
func TestLoopbackIsCounted(t *testing.T) {
	const size = 8 << 20
	s := newSampler(t.TempDir())
	settle(t, s)
	began := s.was
	if !began.counted {
		t.Skip("this system does not tell about its network")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	sent := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Write(make([]byte, size))
			_ = c.Close()
		}
		sent <- err
	}()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if n, err := io.Copy(io.Discard, c); n != size || err != nil {
		t.Fatalf("%d bytes were transferred: %v", n, err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	f := settle(t, s)
	span := s.was.at.Sub(began.at).Seconds()
	if f.NetIn*span < size || f.NetOut*span < size {
		t.Errorf("%.0f bytes in and %.0f out, after sending %d through loopback", f.NetIn*span, f.NetOut*span, size)
	}
}

func TestWhatCannotBeReadIsZero(t *testing.T) {
	s := newSampler(filepath.Join(t.TempDir(), "no", "such", "folder"))
	s.own = nil
	settle(t, s)
	f := settle(t, s)
	if f.DiskFree != 0 || f.Memory != 0 || f.ProcessCPU != 0 {
		t.Errorf("figures of nothing: %+v", f)
	}
	if f.MemoryTotal == 0 {
		t.Error("readable figures were lost with unreadable ones")
	}
}

func TestRates(t *testing.T) {
	at := time.Unix(1000, 0)
	was := reading{at: at, busy: 10, all: 100, own: 5, ownCounted: true, in: 1000, out: 2000, counted: true}
	for _, c := range []struct {
		name string
		now  reading
		want engine.HostMetrics
	}{
		{"2 s", reading{at: at.Add(2 * time.Second), busy: 13, all: 104, own: 8, ownCounted: true, in: 3000, out: 2000, counted: true}, engine.HostMetrics{CPU: 75, ProcessCPU: 150, NetIn: 1000}},
		{"an interface has gone", reading{at: at.Add(time.Second), busy: 10, all: 104, own: 5, ownCounted: true, in: 10, out: 3000, counted: true}, engine.HostMetrics{NetOut: 1000}},
		{"nothing could be read", reading{at: at.Add(time.Second)}, engine.HostMetrics{}},
		{"no time has passed", reading{at: at, busy: 20, all: 200, own: 50, ownCounted: true, in: 5000, counted: true}, engine.HostMetrics{}},
	} {
		if got := c.now.since(&was); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestSlowReadingIsDeferred checks that a slow reading is delivered with a later sample.
func TestSlowReadingIsDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		readings := 0
		s := &sampler{ready: make(chan reading, 1)}
		s.measure = func() reading {
			readings++
			time.Sleep(time.Duration(readings) * time.Second)
			return reading{at: time.Now(), now: engine.HostMetrics{Memory: uint64(readings)}}
		}
		for i, want := range []uint64{0, 1, 1, 1, 2} { // the first reading is there at 1 s, the second at 4 s
			began := time.Now()
			if got := s.sample().Memory; got != want {
				t.Errorf("sample %d shows reading %d, want %d", i, got, want)
			}
			if d := time.Since(began); d > patience {
				t.Errorf("sample %d took %v", i, d)
			}
			time.Sleep(1100 * time.Millisecond)
		}
		time.Sleep(time.Hour) // the reading under way ends
	})
}

func BenchmarkSample(b *testing.B) {
	s := newSampler(b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		s.sample()
	}
}
