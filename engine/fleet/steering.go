package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/workers"
)

// Workers returns the workers, sorted by name.
func (c *Coordinator) Workers() (all []workers.State) {
	c.mu.Lock()
	pool := c.pool
	for name, m := range c.members {
		if m.greeted == 0 {
			continue
		}
		all = append(all, workers.State{
			Name: name, Version: m.Version, System: m.System, Cores: m.Cores, MemoryLimit: m.Memory, Status: m.state, Why: m.why, Since: m.since,
			Here: m.Machine != "" && m.Machine == c.machine,
		})
	}
	c.mu.Unlock()
	if pool != nil {
		for i := range all {
			crew{pool}.describe(&all[i])
		}
	}
	slices.SortFunc(all, func(a, b workers.State) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// NoWorkerError is returned for a name that no worker has.
type NoWorkerError struct {
	Name  string
	Known []string
}

func (e *NoWorkerError) Error() string {
	return fmt.Sprintf("no worker is named %q; the workers are %s", e.Name, strings.Join(e.Known, ", "))
}

// Drain lets a worker end its sessions and take no others, also if its process is started again; or, with drains false, lets it take
// sessions again.
func (c *Coordinator) Drain(name string, drains bool) error {
	return c.steer(name, func(m *member, p *Pool) {
		if p != nil {
			crew{p}.drain(name, drains)
			return
		}
		m.drains = drains
		if m.state == workers.Ready || m.state == workers.Draining {
			m.state, m.since = m.willing(), time.Now()
		}
	})
}

// Remove cuts the sessions of a worker, which run again elsewhere, and refuses the worker from now on.
func (c *Coordinator) Remove(name string) error {
	if err := c.steer(name, func(*member, *Pool) {}); err != nil {
		return err
	}
	c.lose(name, "it was removed by hand")
	c.bus.Dismiss(name)
	return nil
}

// Limit bounds the share of a worker; 0 sets no bound.
func (c *Coordinator) Limit(name string, most int) error {
	return c.steer(name, func(m *member, p *Pool) {
		if p != nil {
			crew{p}.limitWorker(name, most)
			return
		}
		m.most = most
	})
}

// Tune passes a value of a service on to the workers, for [merged.Hooks]. Workers that join later receive it, too.
func (c *Coordinator) Tune(service, name, value string) {
	c.tune(Tuned{Service: service, Name: name, Value: value})
}

// Renew has the workers send requests in flight to a service again.
func (c *Coordinator) Renew(service string) { c.tune(Tuned{Service: service}) }

func (c *Coordinator) tune(t Tuned) {
	c.mu.Lock()
	pool := c.pool
	c.mu.Unlock()
	if pool != nil {
		dispatch{pool}.tune(t)
	}
}

// Lent passes on which services need no admission, for [lending.Config].
func (c *Coordinator) Lent(l lending.Lent) {
	c.mu.Lock()
	pool := c.pool
	c.mu.Unlock()
	if pool != nil {
		dispatch{pool}.use(l)
	}
}

func (c *Coordinator) steer(name string, f func(m *member, p *Pool)) error {
	c.mu.Lock()
	m, pool := c.members[name], c.pool
	if m == nil || !m.present {
		e := &NoWorkerError{Name: name}
		for known, m := range c.members {
			if m.present {
				e.Known = append(e.Known, known)
			}
		}
		slices.Sort(e.Known)
		c.mu.Unlock()
		return e
	}
	f(m, nil)
	c.mu.Unlock()
	if pool != nil {
		f(m, pool)
	}
	c.changed()
	return nil
}
