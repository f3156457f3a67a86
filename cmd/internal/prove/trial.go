package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Trial is the result of one run that was killed.
type Trial struct {
	Number  int // 0 is the undisturbed run over workers, which is among the trials if it differs
	Workers int // over which it was spread; 0 for a run in one process
	Kills   []Kill
	Resumes int // or restarts, if it was not stored yet
	Difference

	Replayed, SentAgain, Confirmed int64 // steps: from the journal; sent again; of those, known to have been done
}

// Describe describes how the trial was killed.
func (t *Trial) Describe() string {
	at := make([]string, len(t.Kills))
	for i, k := range t.Kills {
		at[i] = k.String()
	}
	switch {
	case t.Number == 0:
		return fmt.Sprintf("the undisturbed run over %d workers", t.Workers)
	case t.Workers > 0:
		return fmt.Sprintf("trial %d over %d workers, killed at %s", t.Number, t.Workers, strings.Join(at, ", "))
	}
	return fmt.Sprintf("trial %d, killed at %s", t.Number, strings.Join(at, ", "))
}

// try runs a plan and compares the result.
func (c *Config) try(ctx context.Context, parent string, p *plan, undisturbed *reference) (t Trial, err error) {
	t = Trial{Number: p.trial}
	owner := &undisturbed.counts
	if p.spread {
		t.Workers, owner = c.Fleet.Workers, &undisturbed.owner
	}
	dir, err := c.folder(parent, "trial-"+strconv.Itoa(p.trial))
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, c.clear(ctx, dir)) }()
	if err := c.toTheEnd(ctx, dir, p, p.rounds(owner, &undisturbed.worker), &t); err != nil {
		if ctx.Err() != nil {
			return t, err
		}
		return t, fmt.Errorf("%s: %w", t.Describe(), err)
	}
	r, err := c.read(ctx, dir)
	if err != nil {
		return t, err
	}
	t.Difference = r.differs(undisturbed.result)
	t.Replayed = r.labels[engine.Replayed]
	t.SentAgain = r.labels[engine.Resent] + r.labels[engine.Unconfirmed] + r.labels[engine.Confirmed]
	t.Confirmed = r.labels[engine.Confirmed]
	return t, nil
}

// toTheEnd executes the rounds, which kill processes of the run, and resumes it until it ends.
func (c *Config) toTheEnd(ctx context.Context, dir string, p *plan, rounds []round, t *Trial) error {
	for n := 0; ; n++ {
		s, record, err := look(ctx, dir)
		if err != nil {
			return fmt.Errorf("read the state after a kill: %w", err)
		}
		if s == over {
			return c.push(ctx, dir, record.ID)
		}
		if n > len(rounds) {
			return fmt.Errorf("the run has not ended: %s, %s", record.State(), record.Reason)
		}
		ch, with := child{dir: dir}, round{settings: p.last}
		if n < len(rounds) {
			with = rounds[n]
		}
		ch.args = c.run(s == begun, p.spread, with.settings)
		with.doom(&ch, n)
		killed, err := c.start(ctx, ch)
		if err != nil {
			return err
		}
		if n > 0 && s == begun {
			t.Resumes++
		}
		t.Kills = append(t.Kills, with.happened(dir, n, killed)...)
		if !killed { // it ended before its point; the remaining rounds are later
			rounds = rounds[:min(n, len(rounds))]
			continue
		}
		if c.Between != nil {
			if err := c.Between(dir); err != nil {
				return err
			}
		}
	}
}

// push sends the rows that the run left unsent.
func (c *Config) push(ctx context.Context, dir string, run engine.RunID) error {
	if c.Database.URL == "" {
		return nil
	}
	_, err := c.start(ctx, child{dir: dir, args: []string{"push", string(run)}})
	return err
}

// clear removes a run's folder, and its rows in the database, which the run may have been sending when it ended.
func (c *Config) clear(ctx context.Context, dir string) error {
	if c.Keep {
		return nil
	}
	if c.Database.URL == "" {
		return os.RemoveAll(dir)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTime)
	defer cancel()
	s, record, err := look(ctx, dir)
	if err == nil && s != absent {
		_, err = postgres.Remove(ctx, c.database(), record.ID)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// clearTime is the time limit for removing a run's rows.
const clearTime = 30 * time.Second
