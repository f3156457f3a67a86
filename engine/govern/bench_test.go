package govern

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func BenchmarkSteer(b *testing.B) {
	p := &plant{agents: 372, mean: 1, knee: constant(40), cpu: machine(constant(10), 1), own: 0.5, others: constant(10), most: 60}
	p.start(1, 50)
	governor := governorOf(b, "adaptive")
	drive(b, governor, p, 600)
	var readings []engine.Reading
	for range 3600 {
		readings = append(readings, p.second())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		governor.Steer(readings[i%len(readings)])
	}
}
