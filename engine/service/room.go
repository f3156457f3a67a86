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
	// roomFree is up to how many bytes an answer counts for nothing in the run's memory budget.
	roomFree = 256 << 10
	// roomPiece is how many bytes of an answer of unknown length are claimed at once. What it does not need is given back:
	// sessions that claimed little by little would wait for each other.
	roomPiece = 8 << 20
	// An answer is in memory as it came, as the journal gets it, and decoded: about roomTimes its length, and no more than
	// roomMost on top of twice that.
	roomTimes, roomMost = 4, 32 << 20
)

// errMemory is in the chain of an error by which an answer has no room in memory.
var errMemory = errors.New("no memory for the answer")

// weigh is what an answer of n bytes takes.
func weigh(n int64) int64 { return 2*n + min((roomTimes-2)*n, roomMost) }

// room claims of the run's memory budget what an answer takes, before it is read; one whose length is not known as it comes.
// What an earlier attempt's answer took is given back.
func (c *Call) room(resp *http.Response, of *term) error {
	if c.reserved > 0 {
		c.fits(-1)
	}
	switch n := resp.ContentLength; {
	case c.Session == nil || n >= 0 && n <= roomFree:
		return nil
	case n > 0:
		return c.hold(of, weigh(min(n, maxBody)))
	}
	resp.Body = &counted{ReadCloser: resp.Body, free: roomFree, more: func() error { return c.hold(of, weigh(roomPiece)) }}
	return nil
}

// fits gives back what was claimed for an answer and is too much, now that its length is known; -1 is that there is none.
func (c *Call) fits(length int) {
	if c.reserved == 0 {
		return
	}
	needs := int64(0)
	if length >= 0 {
		needs = min(weigh(int64(length)), c.reserved)
	}
	c.Session.ReturnMemory(c.Path, c.reserved-needs)
	c.reserved = needs
}

// hold claims memory, throttled while there is none: neither the step's time nor the attempt's goes on.
func (c *Call) hold(of *term, n int64) error {
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
	err := c.held(engine.MemoryGate, func() error { return c.Session.HoldMemory(of.Context, c.Path, n) })
	c.waited += time.Since(start)
	if err == nil {
		c.reserved += n
	}
	return unheld(of.Context, err)
}

// holdRead claims memory for an answer that was read.
func (c *Call) holdRead(ctx context.Context, n int64) error {
	if n <= roomFree || c.Session == nil || c.Session.TryHoldMemory(c.Path, weigh(n)) {
		return nil
	}
	return c.held(engine.MemoryGate, func() error { return c.Session.HoldMemory(ctx, c.Path, weigh(n)) })
}

// unheld marks the failure of a session that gets no memory.
func unheld(ctx context.Context, err error) error {
	if failure, ok := errors.AsType[*engine.StepError](err); ok && ctx.Err() == nil {
		return &engine.StepError{Class: failure.Class, Err: &memoryFailure{failure.Err}}
	}
	return err
}

// memoryFailure is an error that is errMemory and says more.
type memoryFailure struct{ error }

func (e *memoryFailure) Is(target error) bool { return target == errMemory }
func (e *memoryFailure) Unwrap() error        { return e.error }

// counted is an answer that claims memory as it comes.
type counted struct {
	io.ReadCloser
	free int64 // bytes that may come before more is called
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
