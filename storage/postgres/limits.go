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
	// DefaultShare is the default of Share in percent.
	DefaultShare = 70

	defaultAcquire   = 30 * time.Second
	defaultLife      = time.Hour
	defaultIdle      = 5 * time.Minute
	defaultStatement = time.Minute
	// leastTime and mostTime bound each duration.
	leastTime, mostTime = 100 * time.Millisecond, 24 * time.Hour
)

// Limits bound the load on a server. The zero value has the defaults.
type Limits struct {
	Connections int           // maximum number of open connections; 8, at most 50
	Share       int           // maximum share of the server's free connections in percent; 70
	Acquire     time.Duration // maximum wait for a free connection; 30 s
	Life        time.Duration // lifetime of a connection; 1 h
	Idle        time.Duration // time after which an idle connection is closed; 5 min
	Statement   time.Duration // maximum duration of a batch and of each statement, also on the server; 1 min
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
		return &engine.FieldError{Field: "database", Problem: "may have 1 to 50 connections", Hint: "8 are plenty"}
	}
	if l.Share < 1 || l.Share > 100 {
		return &engine.FieldError{Field: "database", Problem: "may use 1 to 100 percent of the server's free connections", Hint: "70 leaves room for others"}
	}
	for _, d := range []time.Duration{l.Acquire, l.Life, l.Idle, l.Statement} {
		if d < leastTime || d > mostTime {
			return &engine.FieldError{Field: "database", Problem: "has a time limit that is not between 0.1 s and a day", Hint: "leave it out for the default"}
		}
	}
	return nil
}

// begin returns the start of a transaction in which the server bounds statements, waits for locks, and idle time, even if
// this process dies. The limits belong to the transaction: a pooler rejects them at the start of a connection, and assigns
// the session to another client afterwards. Stricter limits of the server stay.
func (l Limits) begin() string {
	ms := l.Statement.Milliseconds()
	return fmt.Sprintf(`BEGIN; SELECT set_config(name, '%d', true) FROM (VALUES ('statement_timeout'), ('lock_timeout'),
		('idle_in_transaction_session_timeout')) limits (name)
		WHERE current_setting(name)::interval NOT BETWEEN interval '1 millisecond' AND interval '%d milliseconds';`, ms, ms)
}
