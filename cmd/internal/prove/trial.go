package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Trial is the result of one run that was killed.
type Trial struct {
	Number  int
	Points  []Point // at which it was killed
	Resumes int     // or restarts, if it was not stored yet
	Difference

	Replayed, SentAgain, Confirmed int64 // steps: from the journal; sent again; of those, known to have been done
}

// Describe describes how the trial was killed.
func (t *Trial) Describe() string {
	at := make([]string, len(t.Points))
	for i, p := range t.Points {
		at[i] = p.String()
	}
	return fmt.Sprintf("trial %d, killed at %s", t.Number, strings.Join(at, " "))
}

// try runs a plan and compares the result.
func (c *Config) try(ctx context.Context, parent string, p *plan, undisturbed *reference) (t Trial, err error) {
	t = Trial{Number: p.trial}
	dir, err := c.folder(parent, p.trial)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, c.clear(ctx, dir)) }()
	if err := c.toTheEnd(ctx, dir, p, p.points(&undisturbed.counts), &t); err != nil {
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

// toTheEnd kills the run at its points and resumes it until it ends.
func (c *Config) toTheEnd(ctx context.Context, dir string, p *plan, points []Point, t *Trial) error {
	for round := 0; ; round++ {
		s, record, err := look(ctx, dir)
		if err != nil {
			return fmt.Errorf("read the state after a kill: %w", err)
		}
		if s == over {
			return c.push(ctx, dir, record.ID)
		}
		if round > len(points) {
			return fmt.Errorf("the run has not ended: %s, %s", record.State(), record.Reason)
		}
		ch, with := child{dir: dir}, p.last
		if round < len(points) {
			ch.point, with = points[round], p.deaths[round].settings
		}
		ch.args = c.run(s == begun, with)
		killed, err := c.start(ctx, ch)
		if err != nil {
			return err
		}
		if round > 0 && s == begun {
			t.Resumes++
		}
		if !killed { // it ended before its point; the remaining points are later
			points = points[:min(round, len(points))]
			continue
		}
		t.Points = append(t.Points, ch.point)
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
