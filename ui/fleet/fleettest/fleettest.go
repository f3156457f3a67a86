// Package fleettest has a fleet for tests of screens.
package fleettest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet"
)

// Fleet records the orders that it receives. The zero value has no workers.
type Fleet struct {
	mu     sync.Mutex
	states []workers.State
	orders []string

	plan fleet.Plan // of the invitation
	open bool

	// Join is what workers join with, and Fail the error of all orders.
	Join string
	Fail error
}

var (
	_ fleet.Workers = (*Fleet)(nil)
	_ fleet.Host    = (*Fleet)(nil)
)

// Set replaces the workers.
func (f *Fleet) Set(all ...workers.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states = slices.Clone(all)
}

// Orders returns the orders so far.
func (f *Fleet) Orders() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.orders)
}

// Workers implements [fleet.Workers] and [fleet.Host].
func (f *Fleet) Workers() []workers.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.states)
}

func (f *Fleet) order(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = append(f.orders, fmt.Sprintf(format, args...))
	return f.Fail
}

// Drain implements [fleet.Workers].
func (f *Fleet) Drain(name string) error { return f.order("drain %s", name) }

// Undrain implements [fleet.Workers].
func (f *Fleet) Undrain(name string) error { return f.order("undrain %s", name) }

// Remove implements [fleet.Workers].
func (f *Fleet) Remove(name string) error { return f.order("remove %s", name) }

// Limit implements [fleet.Workers].
func (f *Fleet) Limit(name string, most int) error { return f.order("limit %s=%d", name, most) }

// Invite implements [fleet.Host].
func (f *Fleet) Invite(p fleet.Plan) (string, error) {
	err := f.order("invite %s%s", p.Listen, p.Cluster)
	f.invited(p, err == nil)
	return f.Join, err
}

func (f *Fleet) invited(p fleet.Plan, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan, f.open = p, open
}

// Invited implements [fleet.Host].
func (f *Fleet) Invited() (fleet.Plan, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		return fleet.Plan{}, ""
	}
	return f.plan, f.Join
}

// Uninvite implements [fleet.Host].
func (f *Fleet) Uninvite() error {
	err := f.order("uninvite")
	if err == nil {
		f.invited(fleet.Plan{}, false)
	}
	return err
}

// Four returns four workers; the third was lost two seconds before now, unless now is zero. i makes their figures differ over time.
func Four(now time.Time, i int) []workers.State {
	wave := func(base, by int) int { return base + (i*by)%9 }
	all := []workers.State{
		{Name: "desk", System: "linux/amd64", Version: "0.9.0", Cores: 8, MemoryLimit: 16e9, Limit: 14, InFlight: wave(5, 2), PerSecond: float64(wave(22, 3)), CPU: 310, Memory: 402e6, Lag: 210 * time.Microsecond},
		{Name: "rack-1", System: "linux/amd64", Version: "0.9.0", Cores: 16, MemoryLimit: 64e9, Limit: 18, InFlight: wave(9, 1), PerSecond: float64(wave(31, 2)), CPU: 720, Memory: 612e6, Lag: 1200 * time.Microsecond},
		{Name: "rack-2", System: "linux/amd64", Version: "0.9.0", Cores: 16, MemoryLimit: 64e9, Limit: 18, InFlight: wave(8, 4), PerSecond: float64(wave(29, 5)), CPU: 690, Memory: 590e6, Lag: 1300 * time.Microsecond},
		{Name: "rack-3", System: "linux/amd64", Version: "0.9.0", Cores: 4, MemoryLimit: 8e9, Limit: 6, MaxLimit: 6, InFlight: 2 + wave(1, 5)%4, PerSecond: float64(wave(8, 1)), CPU: 398, Memory: 210e6, Lag: 18 * time.Millisecond},
	}
	if !now.IsZero() {
		w := &all[2]
		w.Status, w.Why, w.Since = workers.Lost, "no answer for 3 s", now.Add(-2*time.Second)
		w.Limit, w.InFlight, w.PerSecond, w.CPU = 0, 0, 0, 0
	}
	return all
}
