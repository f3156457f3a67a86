package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// flight is a request that others wait for.
type flight struct {
	done chan struct{}
	err  error // set before done is closed
}

// share returns an answer that belongs to the run, and requests it if necessary.
func (c *Crowd) share(s *engine.Session) error {
	key, path := c.Key(s.Settings().Seed, s.Cycle, s.Agent), "share"
	record := engine.StepRecord{Path: path}
	for {
		if e, ok := s.Recall(key); ok {
			if string(e.Output) != sharedAnswer(key) {
				return engine.Fail(engine.BadAnswer, "the run has %q of %x, not %q", e.Output, key, sharedAnswer(key))
			}
			record.Usage = &engine.Usage{Hits: 1}
			s.Row.Steps = append(s.Row.Steps, record)
			return nil
		}
		f := c.board(s, key, path)
		up := s.Clock()
		up.Hold()
		select {
		case <-f.done:
			up.Release()
		case <-up.Context().Done():
			up.Release()
			return context.Cause(up.Context())
		}
		if f.err != nil {
			return f.err
		}
	}
}

// Key returns the key of the answer that a session of the seed uses.
func (c *Crowd) Key(seed uint64, cycle, agent int) engine.SharedKey {
	n := engine.SessionKey(seed, cycle, agent).Text("share").Source().IntN(c.Shares)
	return engine.SharedKey{byte(n), byte(n >> 8), 1}
}

func sharedAnswer(key engine.SharedKey) string { return fmt.Sprintf("answer %x", key) }

// board waits for an answer with others, or requests it.
func (c *Crowd) board(s *engine.Session, key engine.SharedKey, path string) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flying[key]; ok {
		return f
	}
	f := &flight{done: make(chan struct{})}
	if _, ok := s.Recall(key); ok { // it arrived since the caller looked
		close(f.done)
		return f
	}
	if c.flying == nil {
		c.flying = map[engine.SharedKey]*flight{}
	}
	c.flying[key] = f
	a := s.ForRun(key, time.Minute, &engine.TimeoutError{What: "step", Limit: time.Minute})
	go func() {
		f.err = c.fly(a, key, path)
		c.mu.Lock()
		delete(c.flying, key)
		c.mu.Unlock()
		close(f.done)
	}()
	return f
}

// fly sends the request for the run, and repeats it while it fails as planned.
func (c *Crowd) fly(s *engine.Session, key engine.SharedKey, path string) error {
	_, known, release, err := engine.AwaitShared(s, key)
	defer release()
	if known || err != nil {
		return err
	}
	plan := draw.Key{}.Int(s.Settings().Seed).Text(string(key[:])).Source()
	record := engine.StepRecord{Path: path, Attempts: 1, Statuses: []int{429, 200}, Usage: &engine.Usage{Calls: 1, Input: 10, Output: int64(key[0]), Cost: 3}}
	if e, known := s.Replay(path); known {
		record.Label = engine.Resent
		if e.Hash != uint64(key[0]) || e.Attempts != 0 || e.Path != path {
			return engine.Fail(engine.ConfigError, "the journal holds %+v of %x", e, key)
		}
	} else {
		up := s.Clock()
		up.Hold()
		err := s.Intend(up.Context(), path, uint64(key[0]), &engine.Outlay{}, &engine.Outlay{})
		up.Release()
		if err != nil {
			return err
		}
	}
	settle, err := claim(s, engine.Outlay{Requests: 1, Usage: *record.Usage})
	if err != nil {
		return err
	}
	c.countAs(fmt.Sprintf("share/%x", key))
	err = sleep(s.Clock(), upTo(plan, c.Work))
	settle(engine.Outlay{Requests: 1, Usage: *record.Usage})
	if err != nil {
		return err
	}
	entry := engine.Entry{Path: path, Attempts: 1, Output: []byte(sharedAnswer(key))}
	s.Answered(entry)
	return s.Settle(record)
}
