package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/fit"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/mcp"
)

var errNoJSON = errors.New("they are not JSON")

// Server has the tools of an MCP server as they were when the run first needed them. A resumed run has the same, from its journal.
type Server struct {
	known   atomic.Pointer[[]Tool]
	flights singleflight.Group
}

// Asking is how a step gets the list of a server.
type Asking struct {
	Session *engine.Session
	Clock   *clock.Clock
	Service string
	Path    string        // of the list in the session's journal, if it could not be had
	Limit   time.Duration // for the request
	// Send sends the request on behalf of the run, and returns the body of the answer.
	Send func(of *engine.Session, path string) (body []byte, took engine.StepRecord, err error)
}

// List returns the tools of the server, each under the name that models use. One session asks for all; the others wait, with paused
// clocks. Its error is a *engine.StepError, or the cause of the clock's context.
func (s *Server) List(a *Asking) ([]Tool, error) {
	if e, ok := a.Session.Replay(a.Path); ok { // it failed in an earlier process
		return nil, service.Failure(e)
	}
	if known := s.known.Load(); known != nil {
		return *known, nil
	}
	body, err := s.fetch(a)
	if err != nil {
		return nil, err
	}
	all, err := read(a.Service, body)
	if err == nil {
		s.known.Store(&all)
	}
	return all, err
}

func (s *Server) fetch(a *Asking) ([]byte, error) {
	sum := sha256.Sum256([]byte("the tools of " + a.Service))
	key := engine.SharedKey(sum[:len(engine.SharedKey{})])
	if e, ok := a.Session.Recall(key); ok {
		return e.Output, nil
	}
	if a.Session.Run().Recording != "" {
		return nil, service.Unrecorded(a.Session)
	}
	a.Clock.Hold()
	defer a.Clock.Release()
	done := s.flights.DoChan("", func() (any, error) { return a.fly(key) })
	select {
	case <-a.Clock.Context().Done():
		return nil, context.Cause(a.Clock.Context())
	case r := <-done:
		if r.Err == nil {
			return r.Val.([]byte), nil
		}
		if _, ok := errors.AsType[*engine.StepError](r.Err); ok {
			a.Session.Observed(service.FailedEntry(a.Path, r.Err))
		}
		return nil, r.Err
	}
}

// fly asks for the list and stores it before any session sees it.
func (a *Asking) fly(key engine.SharedKey) ([]byte, error) {
	path := "tools." + a.Service
	run := a.Session.ForRun(key, a.Limit, engine.Fail(engine.Timeout, "%s has not listed its tools within %s", a.Service, engine.FormatDuration(a.Limit)))
	e, known, release, err := engine.AwaitShared(run, key)
	defer release()
	if known {
		return e.Output, nil
	} else if err != nil {
		return nil, err
	}
	body, took, err := a.Send(run, path)
	if err == nil {
		_, err = read(a.Service, body)
	}
	entry := engine.Entry{Path: path, Attempts: max(took.Attempts, 1), Output: body}
	if err != nil {
		entry = service.FailedEntry(path, err)
	}
	took.Path, took.Status, took.Class = path, entry.Status, entry.Class
	run.Answered(entry)
	if kept := run.Settle(took); kept != nil && err == nil {
		err = fmt.Errorf("%w: keep the tools of %s: %w", engine.ErrCut, a.Service, kept)
	}
	return body, err
}

// read reads a list. A tool that models cannot use fails it: a study without one of its tools would be another study.
func read(server string, body []byte) ([]Tool, error) {
	var list mcp.Listing
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, engine.Fail(engine.BadAnswer, "the list of tools of %s cannot be read: %w", server, err)
	}
	all := []Tool{}
	for _, t := range list.Tools {
		schema, err := fit.Compile(t.Schema)
		if err != nil {
			return nil, engine.Fail(engine.BadAnswer, "the schema of the tool %s of %s: %w", t.Name, server, err)
		}
		all = append(all, Tool{
			Tool: llm.Tool{Name: server + "__" + t.Name, About: t.About, Schema: t.Schema}, Remote: t.Name,
			check: func(arguments string) (value.Value, error) {
				if err := schema.Check([]byte(arguments)); err != nil {
					return nil, err
				}
				return value.DecodeJSON([]byte(arguments))
			},
		})
	}
	return all, nil
}

// pick returns the tools of a server that the entry offers.
func (e *Entry) pick(all []Tool) (picked []Tool, err error) {
	if len(e.Only) == 0 {
		if picked = all; len(all) == 0 {
			err = engine.Fail(engine.ConfigError, "the MCP server %s has no tools", e.Server)
		}
		return picked, err
	}
	for _, name := range e.Only {
		i := slices.IndexFunc(all, func(t Tool) bool { return t.Remote == name })
		if i < 0 {
			return nil, engine.Fail(engine.ConfigError, "the MCP server %s has no tool %s", e.Server, name)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}
