package service

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	// roomFree is the size in bytes up to which a response does not count against the run's memory budget.
	roomFree = 256 << 10
	// roomPiece is how many bytes of a response of unknown length are claimed in one step. The excess is released. Small claims
	// would make sessions wait for each other.
	roomPiece = 8 << 20
	// A response is in memory as received, as journaled, and decoded: about roomTimes its length, but at most roomMost more than
	// twice its length.
	roomTimes, roomMost = 4, 32 << 20
)

// errMemory is in the chain of errors about memory for a response.
var errMemory = errors.New("no memory for the answer")

// memoryFor returns the memory that a response of n bytes needs.
func memoryFor(n int64) int64 { return 2*n + min((roomTimes-2)*n, roomMost) }

// reserve claims the memory for a response from the run's budget before it is read, or as it arrives if its length is not known.
// The claim of an earlier attempt is released.
func (c space) reserve(resp *http.Response, of *term, most int64) error {
	if c.reserved > 0 {
		c.space().trim(-1)
	}
	switch n := resp.ContentLength; {
	case c.Session == nil || n >= 0 && n <= roomFree || isEmpty(resp):
		return nil
	case n > 0:
		return c.space().claimMemory(of, memoryFor(min(n, most)))
	}
	resp.Body = &counted{ReadCloser: resp.Body, free: roomFree, more: func() error { return c.space().claimMemory(of, memoryFor(roomPiece)) }}
	return nil
}

// trim releases what was claimed beyond the known length of a response; -1 releases everything.
func (c space) trim(length int) {
	if c.reserved == 0 {
		return
	}
	needs := int64(0)
	if length >= 0 {
		needs = min(memoryFor(int64(length)), c.reserved)
	}
	c.Session.ReturnMemory(c.Path, c.reserved-needs)
	c.reserved = needs
}

// claimMemory claims memory. While there is none, the call is throttled: neither the step's timeout nor the attempt's runs.
func (c space) claimMemory(of *term, n int64) error {
	if c.probe {
		c.Session.ForceMemory(c.Path, n)
		c.reserved += n
		return nil
	}
	if c.Session.TryHoldMemory(c.Path, n) {
		c.reserved += n
		return nil
	}
	resume, start := of.pause(), time.Now()
	defer resume()
	err := c.held(engine.ThrottledByMemory, func() error { return c.Session.HoldMemory(of.Context, c.Path, n) })
	c.waited += time.Since(start)
	if err == nil {
		c.reserved += n
	}
	return memoryError(of.Context, err)
}

// claimRead claims memory for a response that was read already.
func (c space) claimRead(ctx context.Context, n int64) error {
	if n <= roomFree || c.Session == nil || c.Session.TryHoldMemory(c.Path, memoryFor(n)) {
		return nil
	}
	return c.held(engine.ThrottledByMemory, func() error { return c.Session.HoldMemory(ctx, c.Path, memoryFor(n)) })
}

// memoryError marks the failure of a session that gets no memory.
func memoryError(ctx context.Context, err error) error {
	if failure, ok := errors.AsType[*engine.StepError](err); ok && ctx.Err() == nil {
		return &engine.StepError{Class: failure.Class, Err: &memoryFailure{failure.Err}}
	}
	return err
}

// memoryFailure is an error that matches errMemory.
type memoryFailure struct{ error }

func (e *memoryFailure) Is(target error) bool { return target == errMemory }
func (e *memoryFailure) Unwrap() error        { return e.error }

// counted is a body that claims memory as it arrives.
type counted struct {
	io.ReadCloser
	free int64 // bytes that may be read before more is called
	more func() error
}

func (c *counted) Read(p []byte) (n int, err error) {
	if c.free <= 0 {
		if err := c.more(); err != nil {
			return 0, err
		}
		c.free = roomPiece
	}
	n, err = c.ReadCloser.Read(p)
	c.free -= int64(n)
	return n, err
}
