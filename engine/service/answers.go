package service

import (
	"net/http"
	"sync/atomic"

	"github.com/throng-sim/throng/engine"
)

// answers counts the outcomes of attempts. It is safe for concurrent use.
type answers struct {
	by      [engine.NumReplies]atomic.Int64
	retried atomic.Int64
}

// count counts a finished attempt.
func (s *answers) count(c *Call, a *attempted) {
	s.by[a.reply()].Add(1)
	if c.Record.Attempts > 0 {
		s.retried.Add(1)
	}
}

func (s *answers) fill(state *engine.ServiceState) {
	for i := range s.by {
		state.Replies[i] = s.by[i].Load()
	}
	state.Retries = s.retried.Load()
}

// reply classifies the response of an attempt. A statement that the database carried out counts as 2xx.
func (a *attempted) reply() engine.Reply {
	switch {
	case a.answer == nil:
		return engine.NoReply
	case a.answer.Status == http.StatusTooManyRequests:
		return engine.ReplyRefused
	case a.answer.Status >= 500:
		return engine.Reply5xx
	case a.answer.Status >= 400:
		return engine.Reply4xx
	case a.answer.Status >= 300:
		return engine.Reply3xx
	}
	return engine.Reply2xx
}
