package service

import (
	"net/http"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// BenchmarkCall measures the cost of a call without its service: limits, rate limiter, breaker, clocks.
func BenchmarkCall(b *testing.B) {
	h, err := NewHTTP("shop", "http://shop.example", Limits{}, false)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	h.transport.base = roundTrip(func(r *http.Request) (*http.Response, error) { return answerOf(r, 200, ""), nil })
	target, err := ParseTarget("/x")
	if err != nil {
		b.Fatal(err)
	}
	timer := clock.New(b.Context(), time.Hour, nil)
	defer timer.Stop()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.Do(&Call{Clock: timer}, Request{Method: http.MethodGet, Target: target}); err != nil {
				b.Error(err)
			}
		}
	})
}
