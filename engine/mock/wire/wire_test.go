package wire

import (
	"context"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// TestShares draws faults and answers of a model: in their fractions, the same ones for the same request.
func TestShares(t *testing.T) {
	const n = 4000
	f := Faults{RateLimited: 0.1, ServerError: 0.2, Cut: 0.3}
	r := Replies{Refused: 0.1, Fenced: 0.2, Empty: 0.3}
	faults, replies, after := map[Fault]int{}, map[Reply]int{}, 0
	for i := range uint64(n) {
		key := draw.Key{}.Int(i)
		fault, late := f.Pick(key)
		reply := r.Pick(key)
		if again, _ := f.Pick(key); again != fault || r.Pick(key) != reply {
			t.Fatal("the same request is drawn differently")
		}
		faults[fault]++
		replies[reply]++
		if fault == FaultCut && late {
			after++
		}
	}
	share := func(name string, got int, want float64) {
		t.Helper()
		if p := float64(got) / n; math.Abs(p-want) > 0.03 {
			t.Errorf("%s: a fraction of %.3f, want %.2f", name, p, want)
		}
	}
	for fault, want := range map[Fault]float64{FaultNone: 0.4, FaultRateLimited: 0.1, FaultServerError: 0.2, FaultCut: 0.3, FaultHang: 0} {
		share(string(fault), faults[fault], want)
	}
	for reply, want := range []float64{ReplyUsual: 0.4, ReplyRefused: 0.1, ReplyFenced: 0.2, ReplyEmpty: 0.3} {
		share("an answer", replies[Reply(reply)], want)
	}
	share("cut after the change", after, 0.15)
}

// TestOutage checks both ends of an outage.
func TestOutage(t *testing.T) {
	f := Faults{OutageFrom: time.Minute, OutageFor: time.Second}
	for since, want := range map[time.Duration]bool{time.Minute - 1: false, time.Minute: true, time.Minute + time.Second - 1: true, time.Minute + time.Second: false} {
		if f.Outage(since) != want {
			t.Errorf("at %v: %v", since, !want)
		}
	}
}

// TestWrongFaults checks what is refused.
func TestWrongFaults(t *testing.T) {
	for _, f := range []Faults{
		{RateLimited: -0.1},
		{ServerError: 1.1},
		{Hang: math.NaN()},
		{Cut: 0.6, BadBody: 0.6},
		{OutageFrom: -1},
		{TokenRequests: -1},
		{Quota: MostQuota + 1},
		{Capacity: -1},
		{Replies: Replies{Refused: 0.6, Empty: 0.6}},
		{Replies: Replies{Fenced: 2}},
		{Tools: Tools{Again: math.NaN()}},
	} {
		if f.Validate() == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	if err := (Faults{RateLimited: 0.5, Cut: 0.5, Quota: 3, Replies: Replies{Empty: 1}, Tools: Tools{Again: 1, Unknown: 1}}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestProfiles checks names and times.
func TestProfiles(t *testing.T) {
	for _, name := range []string{"none", "local", "remote", "slow"} {
		p, err := ParseProfile(name)
		if err != nil || p.String() != name || !p.Known() {
			t.Errorf("%s is %v, %v", name, p, err)
		}
		least, most, _ := p.Times()
		for i := range uint64(100) {
			if d := p.Delay(draw.Key{}.Int(i)); d < least || d > most {
				t.Errorf("%s: %v is not between %v and %v", name, d, least, most)
			}
		}
	}
	if _, err := ParseProfile("fast"); err == nil || Profile(9).Known() {
		t.Error("a profile that does not exist")
	}
}

// TestServer serves on loopback only, and ends requests in progress when it closes.
func TestServer(t *testing.T) {
	for addr, fine := range map[string]bool{"": true, "127.0.0.1:0": true, "localhost:80": true, "[::1]:80": true, "0.0.0.0:80": false, "example.com:80": false, "127.0.0.1": false} {
		if err := LoopbackOnly(addr); (err == nil) != fine {
			t.Errorf("%q: %v", addr, err)
		}
	}
	began := make(chan struct{})
	s, err := Listen("", func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Run()
	done := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL(), nil)
		if err == nil {
			var answer *http.Response
			if answer, err = http.DefaultClient.Do(r); err == nil {
				err = answer.Body.Close()
			}
		}
		done <- err
	}()
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("the request was answered")
	}
	select {
	case <-s.Closing():
	default:
		t.Error("requests that wait were not released")
	}
}
