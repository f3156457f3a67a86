package live

import (
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// busySeconds is the length of a service's sparkline.
const busySeconds = 60

// busy records the calls in flight to each service, second by second. The zero value is empty.
type busy struct{ trails map[string]*trail }

// trail is the record of one service.
type trail struct {
	calls []float64 // oldest first
	spark *widgets.Spark
}

// add records a second.
func (b *busy) add(services []engine.ServiceState) {
	if b.trails == nil {
		b.trails = map[string]*trail{}
	}
	for i := range services {
		v := &services[i]
		t := b.trails[v.Name]
		if t == nil {
			t = &trail{}
			b.trails[v.Name] = t
		}
		if len(t.calls) == busySeconds {
			t.calls = slices.Delete(t.calls, 0, 1)
		}
		t.calls, t.spark = append(t.calls, float64(v.InFlight)), nil
	}
}

// of returns a service's sparkline, or nil if the service is unknown.
func (b *busy) of(service string) *widgets.Spark {
	t := b.trails[service]
	if t == nil {
		return nil
	}
	if t.spark == nil {
		t.spark = &widgets.Spark{Values: slices.Clone(t.calls), Least: 1}
	}
	return t.spark
}
