package live

import (
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// busySeconds is how far a service's line goes back.
const busySeconds = 60

// busy keeps how many calls to each service were under way, second by second. The zero value has seen nothing.
type busy struct{ trails map[string]*trail }

// trail is what is kept of a service.
type trail struct {
	calls []float64 // oldest first
	spark *widgets.Spark
}

// add takes in a second.
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

// of returns a service's line; nil where there is none.
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
