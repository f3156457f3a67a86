package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/pgbouncer"
	"github.com/throng-sim/throng/engine/service/breaker"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/redact"
)

// trouble is a failed attempt of a statement.
type trouble struct {
	failure *engine.StepError
	passing bool            // another attempt may succeed
	undone  bool            // the statement certainly did nothing
	says    breaker.Verdict // about the server
}

// text returns the text of the failure, or "" if there is none.
func (t *trouble) text() string {
	if t == nil {
		return ""
	}
	return t.failure.Error()
}

// classify returns an error as a trouble, or as the final error of a call whose context ended. connected says that the statement
// was sent.
func (p *Postgres) classify(ctx, attempt context.Context, err error, connected bool, s *database.Statement, call *Call) (t *trouble, final error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	undone := !connected || pgconn.SafeToRetry(err)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return serverError(p.database, said, connected, s, call), nil
	}
	switch {
	case database.IsBadResult(err):
		return &trouble{failure: &engine.StepError{Class: engine.ClientError, Err: err}, says: breaker.Answered}, nil
	case errors.Is(context.Cause(attempt), errAttemptTimeout):
		says := breaker.Failing
		if !connected {
			says = breaker.Unavailable
		}
		return &trouble{&engine.StepError{Class: engine.Timeout, Err: errAttemptTimeout}, true, undone, says}, nil
	}
	return &trouble{engine.Fail(engine.Network, "%s", p.database.Unreachable(err)), true, undone, breaker.Unavailable}, nil
}

// serverError returns the trouble of an error response: the statement did nothing.
func serverError(d *database.Server, e *pgconn.PgError, connected bool, s *database.Statement, call *Call) *trouble {
	class, passing := database.StateClass(e.Code)
	said := fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code)
	if call.Private {
		said = "SQLSTATE " + e.Code
	} else if connected {
		said = fmt.Sprintf("%s (SQLSTATE %s)", s.WithoutValues(e), e.Code)
	}
	if password := d.Config.ConnConfig.Password; password != "" {
		said = strings.ReplaceAll(said, password, redact.Mark)
	}
	said = call.display().forDisplay(said)
	switch {
	case !connected:
		said = d.Target() + " refuses the connection: " + database.Hinted(said, e)
	case pgbouncer.Hint(database.AsPgBouncer(e)) != "":
		said = database.Hinted(said, e)
	case e.Code == "25006" && s.Query.Reads():
		said += "; a statement that looks like a question and changes something says so by `repeats: unsafe`"
	case e.Code == "25006": // a standby
		class, passing = engine.ServerError, true
	case e.Code == "22P02" && strings.Contains(e.Message, "array"):
		said += "; for a list that is an array write $1::text[]"
	}
	says := stateVerdict(e.Code)
	if pgbouncer.Busy(database.AsPgBouncer(e)) {
		says = breaker.WantsLess
	}
	return &trouble{engine.Fail(class, "%s", said), passing, e.Code != "40003", says}
}

// stateVerdict returns what a SQLSTATE says about the server: that it shuts down or starts, or has no room. Conflicts between
// statements mean that it works.
func stateVerdict(code string) breaker.Verdict {
	for _, prefix := range []string{"08", "53", "57P01", "57P02", "57P03", "58", "XX"} {
		if strings.HasPrefix(code, prefix) {
			return breaker.Unavailable
		}
	}
	return breaker.Answered
}
