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

// Preflight checks before a launch what it needs. What the outside has answered counts for a while, as long as the same
// is asked: an order changes with every key, and nobody's server should hear of that. The zero value is ready. Its methods
// are safe for concurrent use.
type Preflight struct {
	mu   sync.Mutex
	kept map[string]keptCheck // by everything that the answer depends on
}

// keptCheck is an answer from outside.
type keptCheck struct {
	engine.Check
	at time.Time
}

// keptFor is for how long an answer from outside counts.
const keptFor = 5 * time.Minute

// item is a line of the list that is to be checked.
type item struct {
	name string
	key  string // what an answer from outside depends on; "" asks nobody outside
	find func(ctx context.Context) engine.Check
}

// Forget has everything checked anew.
func (p *Preflight) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = nil
}

// List checks everything at once, each for ten seconds at most, and returns the list. A launch without a scenario is the
// machine and the database alone. Tell, if it is set, hears of the list at first, where all is awaited, and after every
// answer; one call at a time, and the list is its own. The results would go to db.
// Automatic marks checks that start without a request. They send no secrets.
func (p *Preflight) List(ctx context.Context, l Launch, db config.Database, automatic bool, tell func([]engine.Check)) []engine.Check {
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
	if tell == nil {
		tell = func([]engine.Check) {}
	}
	tell(slices.Clone(all))
	var mu sync.Mutex // guards all
	var wait sync.WaitGroup
	for i, it := range items {
		wait.Go(func() {
			c := p.check(ctx, it)
			mu.Lock()
			defer mu.Unlock()
			all[i] = c
			tell(slices.Clone(all))
		})
	}
	wait.Wait()
	return all
}

func (p *Preflight) check(ctx context.Context, it item) engine.Check {
	for _, key := range []string{strings.TrimPrefix(it.key, automaticKey), it.key} {
		if c, ok := p.answered(key); ok {
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
		if p.kept == nil {
			p.kept = map[string]keptCheck{}
		}
		p.kept[it.key] = keptCheck{c, time.Now()}
	}
	return c
}

func (p *Preflight) answered(key string) (engine.Check, bool) {
	if key == "" {
		return engine.Check{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.kept[key]
	if ok && time.Since(c.at) > keptFor {
		delete(p.kept, key)
		return engine.Check{}, false
	}
	return c.Check, ok
}

// checks are those of a launch. They run at once, and are told by [Preflight.List].
type checks struct {
	Permits
	estimate  Estimate
	automatic bool // started without a request: no secrets are sent
	host      func() engine.HostMetrics
	past      *Past
}

// items are the lines of a launch's list: what the run asks, where its results go, the machine.
func (l checks) items(db config.Database) []item {
	var all []item
	if l.Scenario != nil && l.Settings.Replay == "" {
		outlook := l.Outlook()
		for _, o := range outlook {
			l.equip(o.Service, !l.automatic && locked(o) == nil && len(o.Unallowed) == 0)
			all = append(all, item{"Service " + o.Name, l.serviceKey(o), func(ctx context.Context) engine.Check { return l.checkService(ctx, o) }})
		}
		all = append(all, l.simulationItem(outlook))
	}
	all = append(all, l.databaseItems(db)...)
	return append(all, l.machineItems()...)
}
