package database

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
	"github.com/throng-sim/throng/engine/service/redact"
)

// AsPgBouncer returns an error of a server in the form in which PgBouncer answers are classified.
func AsPgBouncer(e *pgconn.PgError) pgbouncer.Answer {
	return pgbouncer.Answer{Code: e.Code, Message: e.Message}
}

// Hinted adds to an error what to do, if a pooler causes it.
func Hinted(said string, e *pgconn.PgError) string {
	if hint := pgbouncer.Hint(AsPgBouncer(e)); hint != "" {
		return said + "; " + hint
	}
	return said
}

// StateClass classifies SQLSTATEs (appendix A of the manual). passing means that another attempt may succeed.
func StateClass(code string) (class engine.Class, passing bool) {
	switch code {
	case "57014": // statement_timeout, or canceled by an administrator
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

// WithoutValue removes a value from a text; a short one only if it is a word of its own.
func WithoutValue(text, value string) string {
	const short = 4
	switch {
	case value == "" || !strings.Contains(text, value):
		return text
	case len(value) >= short:
		return strings.ReplaceAll(text, value, redact.Mark)
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
			out.WriteString(redact.Mark)
		}
		from = end
	}
}

func inWord(c byte) bool { return letter(c) || digit(c) }

// Unreachable explains why there is no connection, or why it was lost.
func (d *Server) Unreachable(err error) string {
	at := d.Target()
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	op, isDial := errors.AsType[*net.OpError](err)
	isDial = isDial && op.Op == "dial"
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
	case isDial:
		return "nothing answers at " + at
	}
	return at + " closed the connection"
}
