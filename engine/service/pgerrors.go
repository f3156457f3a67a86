package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/pgbouncer"
)

// trouble is why an attempt of a statement failed.
type trouble struct {
	failure *engine.StepError
	passing bool    // another attempt may help
	undone  bool    // the statement did nothing for sure
	says    verdict // about the server
}

// text is the failure in words; that of nil is "".
func (t *trouble) text() string {
	if t == nil {
		return ""
	}
	return t.failure.Error()
}

// sorted makes a trouble of an error; final is that of a call whose own context ended. connected says that the
// statement was on its way.
func (d *Database) sorted(ctx, attempt context.Context, err error, connected bool, s *Statement, call *Call) (t *trouble, final error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	undone := !connected || pgconn.SafeToRetry(err)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return d.said(said, connected, s, call), nil
	}
	switch {
	case errors.Is(err, errManyRows), errors.Is(err, errManyData), errors.Is(err, errTwice):
		return &trouble{failure: &engine.StepError{Class: engine.ClientError, Err: err}, says: answered}, nil
	case errors.Is(context.Cause(attempt), errAttemptTimeout):
		says := failing
		if !connected {
			says = away
		}
		return &trouble{&engine.StepError{Class: engine.Timeout, Err: errAttemptTimeout}, true, undone, says}, nil
	}
	return &trouble{engine.Fail(engine.Network, "%s", d.unreachable(err)), true, undone, away}, nil
}

// said is what the server answered in place of a result: the statement did nothing.
func (d *Database) said(e *pgconn.PgError, connected bool, s *Statement, call *Call) *trouble {
	class, passing := stateClass(e.Code)
	said := fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code)
	if call.Private {
		said = "SQLSTATE " + e.Code
	} else if connected {
		said = fmt.Sprintf("%s (SQLSTATE %s)", s.withoutValues(e), e.Code)
	}
	if password := d.config.ConnConfig.Password; password != "" {
		said = strings.ReplaceAll(said, password, blackedOut)
	}
	said = call.said(said)
	switch {
	case !connected:
		said = d.Target() + " lets nobody in: " + hinted(said, e)
	case pgbouncer.Hint(saidBy(e)) != "":
		said = hinted(said, e)
	case e.Code == "25006" && s.Query.reads:
		said += "; a statement that looks like a question and changes something says so by `repeats: unsafe`"
	case e.Code == "25006": // a standby
		class, passing = engine.ServerError, true
	case e.Code == "22P02" && strings.Contains(e.Message, "array"):
		said += "; for a list that is an array write $1::text[]"
	}
	says := stateVerdict(e.Code)
	if pgbouncer.Busy(saidBy(e)) {
		says = wantsLess
	}
	return &trouble{engine.Fail(class, "%s", said), passing, e.Code != "40003", says}
}

func saidBy(e *pgconn.PgError) pgbouncer.Answer {
	return pgbouncer.Answer{Code: e.Code, Message: e.Message}
}

// hinted adds what to do about an error that a pooler causes.
func hinted(said string, e *pgconn.PgError) string {
	if hint := pgbouncer.Hint(saidBy(e)); hint != "" {
		return said + "; " + hint
	}
	return said
}

// stateVerdict is what a SQLSTATE says about the server: that it is about to go or to come, or has no more room. That
// statements stood in each other's way says that it works.
func stateVerdict(code string) verdict {
	for _, prefix := range []string{"08", "53", "57P01", "57P02", "57P03", "58", "XX"} {
		if strings.HasPrefix(code, prefix) {
			return away
		}
	}
	return answered
}

// stateClass sorts SQLSTATEs (appendix A of the manual): what is a matter of the server's state may pass.
func stateClass(code string) (class engine.Class, passing bool) {
	switch code {
	case "57014": // statement_timeout, or cancelled by an administrator
		return engine.Timeout, true
	case "55P03", "55006": // locks
		return engine.ServerError, true
	case "57P05", "25P03": // idle for too long
		return engine.Network, true
	}
	for prefix, class := range map[string]engine.Class{
		"08": engine.Network, "40": engine.ServerError, "53": engine.ServerError, "57P": engine.ServerError, "58": engine.ServerError,
		"XX": engine.ServerError,
	} {
		if strings.HasPrefix(code, prefix) {
			return class, true
		}
	}
	return engine.ClientError, false
}

var inQuotes = regexp.MustCompile(`".*"|'.*'`)

// withoutValues is the server's message without what the step gave it: of a class about data no quoted text stays.
func (s *Statement) withoutValues(e *pgconn.PgError) string {
	const most = 300
	text := e.Message
	if strings.HasPrefix(e.Code, "22") {
		text = inQuotes.ReplaceAllString(text, blackedOut)
	}
	for _, value := range s.Values {
		text = withoutValue(text, value)
	}
	return shortened(strings.Join(strings.Fields(text), " "), most)
}

// withoutValue takes a value out of a text; a short one only where it is a word of its own.
func withoutValue(text, value string) string {
	const short = 4
	switch {
	case value == "" || !strings.Contains(text, value):
		return text
	case len(value) >= short:
		return strings.ReplaceAll(text, value, blackedOut)
	}
	var out strings.Builder
	from := 0
	for {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return out.String() + text[from:]
		}
		begin, end := from+i, from+i+len(value)
		out.WriteString(text[from:begin])
		if begin > 0 && inWord(text[begin-1]) || end < len(text) && inWord(text[end]) {
			out.WriteString(value)
		} else {
			out.WriteString(blackedOut)
		}
		from = end
	}
}

func inWord(c byte) bool { return letter(c) || digit(c) }

// unreachable says in words why there is no connection, or none any more.
func (d *Database) unreachable(err error) string {
	at := d.Target()
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	var timeout net.Error
	switch _, unknown := errors.AsType[*net.DNSError](err); {
	case unknown:
		return "there is no host of " + at
	case isUntrusted:
		return fmt.Sprintf("the certificate of %s is not trusted: %v", at, untrusted.Err)
	case strings.Contains(err.Error(), "refused TLS"):
		return at + " offers no encryption: switch it on there, or add sslmode=disable if the way is safe"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return at + " does not answer in time"
	case neverSent(err):
		return "nothing answers at " + at
	}
	return at + " closed the connection"
}
