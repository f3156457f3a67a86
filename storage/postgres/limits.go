package postgres

import (
	"cmp"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	defaultConnections = 8
	maxConnections     = 50
	// DefaultShare is how many percent of the connections that a server has free are Throng's at most.
	DefaultShare = 70

	defaultAcquire   = 30 * time.Second
	defaultLife      = time.Hour
	defaultIdle      = 5 * time.Minute
	defaultStatement = time.Minute
	// leastTime and mostTime bound each of the times.
	leastTime, mostTime = 100 * time.Millisecond, 24 * time.Hour
)

// Limits bound what the sending of results takes of a server. The zero value takes the defaults.
type Limits struct {
	Connections int           // open at once at most; 8, and never more than 50
	Share       int           // of the connections that the server has free, in percent; 70
	Acquire     time.Duration // for a connection to be free; 30 s
	Life        time.Duration // of a connection; 1 h
	Idle        time.Duration // after which one that has nothing to do is closed; 5 min
	Statement   time.Duration // for a batch and each of its statements, on the server too; 1 min
}

func (l Limits) withDefaults() Limits {
	return Limits{
		cmp.Or(l.Connections, defaultConnections), cmp.Or(l.Share, DefaultShare),
		cmp.Or(l.Acquire, defaultAcquire), cmp.Or(l.Life, defaultLife), cmp.Or(l.Idle, defaultIdle), cmp.Or(l.Statement, defaultStatement),
	}
}

// Validate returns a *engine.FieldError for a limit that is out of bounds.
func (l Limits) Validate() error {
	l = l.withDefaults()
	if l.Connections < 1 || l.Connections > maxConnections {
		return &engine.FieldError{Field: "database", Problem: "may have 1 to 50 connections", Hint: "Throng itself needs few: 8 are plenty"}
	}
	if l.Share < 1 || l.Share > 100 {
		return &engine.FieldError{Field: "database", Problem: "may have 1 to 100 percent of the connections that the server has free", Hint: "70 leaves room for others"}
	}
	for _, d := range []time.Duration{l.Acquire, l.Life, l.Idle, l.Statement} {
		if d < leastTime || d > mostTime {
			return &engine.FieldError{Field: "database", Problem: "has a time limit that is not between 0.1 s and a day", Hint: "leave it out for the default"}
		}
	}
	return nil
}

// begin starts a transaction in which nothing lasts for ever, whatever becomes of this side: neither a statement, nor a
// wait for a lock, nor a transaction that nobody goes on with. A pooler refuses such limits at the start of a connection,
// and another client gets the session next: so they are the transaction's. A stricter limit of the server stays.
func (l Limits) begin() string {
	ms := l.Statement.Milliseconds()
	return fmt.Sprintf(`BEGIN; SELECT set_config(name, '%d', true) FROM (VALUES ('statement_timeout'), ('lock_timeout'),
		('idle_in_transaction_session_timeout')) limits (name)
		WHERE current_setting(name)::interval NOT BETWEEN interval '1 millisecond' AND interval '%d milliseconds';`, ms, ms)
}
