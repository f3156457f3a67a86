package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
)

// Preflight checks a launch before it starts. It caches answers of services and databases for a while: the form changes
// with every key, and each change must not send requests. The zero value is ready. Its methods are safe for concurrent
// use.
type Preflight struct {
	mu     sync.Mutex
	cached map[string]cachedCheck // by everything that the result depends on
}

// cachedCheck is the result of a check that sent requests.
type cachedCheck struct {
	engine.Check
	at time.Time
}

// cacheTime is how long a cached result is valid.
const cacheTime = 5 * time.Minute

// item is one check of the list.
type item struct {
	name string
	key  string // everything that the result depends on; "" if the check sends no requests
	find func(ctx context.Context) engine.Check
}

// Forget empties the cache.
func (p *Preflight) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cached = nil
}

// Run runs all checks concurrently, each for at most ten seconds, and returns their results. For a launch without a
// scenario it checks only the machine and the database. db is the database that results would go to. Automatic checks
// start without the user's request and send no secrets. If update is set, it receives the list before the first result and
// after each one, one call at a time; the list is a copy.
func (p *Preflight) Run(ctx context.Context, l Launch, db config.Database, automatic bool, update func([]engine.Check)) []engine.Check {
	if l.Scenario != nil {
		var end func()
		ctx, end = withBudget(ctx, l.Settings.Budget)
		defer end()
	}
	items := l.checks(automatic).items(db)
	all := make([]engine.Check, len(items))
	for i, it := range items {
		all[i].Name = it.name
	}
	if update == nil {
		update = func([]engine.Check) {}
	}
	update(slices.Clone(all))
	var mu sync.Mutex // guards all
	var wait sync.WaitGroup
	for i, it := range items {
		wait.Go(func() {
			c := p.check(ctx, it)
			mu.Lock()
			defer mu.Unlock()
			all[i] = c
			update(slices.Clone(all))
		})
	}
	wait.Wait()
	return all
}

func (p *Preflight) check(ctx context.Context, it item) engine.Check {
	for _, key := range []string{strings.TrimPrefix(it.key, automaticKey), it.key} {
		if c, ok := p.lookUp(key); ok {
			return c
		}
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	c := it.find(limited)
	if cause := context.Cause(ctx); it.key != "" && errors.Is(cause, engine.ErrCut) {
		c = unknown("not finished: %v", cause)
	}
	c.Name = it.name
	c.Text, c.Hint = secrets.Redact(c.Text), secrets.Redact(c.Hint)
	if it.key != "" && ctx.Err() == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.cached == nil {
			p.cached = map[string]cachedCheck{}
		}
		p.cached[it.key] = cachedCheck{c, time.Now()}
	}
	return c
}

func (p *Preflight) lookUp(key string) (engine.Check, bool) {
	if key == "" {
		return engine.Check{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.cached[key]
	if ok && time.Since(c.at) > cacheTime {
		delete(p.cached, key)
		return engine.Check{}, false
	}
	return c.Check, ok
}

// checks are the checks of a launch; [Preflight.Run] runs them.
type checks struct {
	Permits
	forecaster Forecaster
	automatic  bool // started without the user's request: no secrets are sent
	host       func() engine.HostMetrics
	earlier    *EarlierRuns
}

// items lists the checks of a launch: services, databases and machine.
func (l checks) items(db config.Database) []item {
	var all []item
	if l.Scenario != nil && l.Settings.Replay == "" {
		planned := l.PlannedServices()
		for _, o := range planned {
			l.equip(o.Service, !l.automatic && locked(o) == nil && len(o.Unallowed) == 0)
			all = append(all, item{"Service " + o.Name, l.serviceKey(o), func(ctx context.Context) engine.Check { return l.checkService(ctx, o) }})
		}
		if slices.ContainsFunc(planned, func(o PlannedService) bool { return o.Kind == "http" }) {
			all = append(all, l.simulationItem(planned))
		}
	}
	all = append(all, l.databaseItems(db)...)
	return append(all, l.machineItems()...)
}
