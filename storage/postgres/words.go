package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/pgbouncer"
)

// fault is an error in words that a person can act on.
type fault struct {
	words string
	err   error
}

func (f *fault) Error() string { return f.words }
func (f *fault) Unwrap() error { return f.err }

// inWords explains an error of the driver.
func inWords(err error, c *pgx.ConnConfig) error {
	if _, ok := errors.AsType[*fault](err); err == nil || ok || errors.Is(err, engine.ErrNewer) || errors.Is(err, context.Canceled) {
		return err
	}
	words := refusal(err, c)
	if words == "" {
		words = unreachable(err, c)
	}
	if words == "" {
		words = strings.Join(strings.Fields(err.Error()), " ")
	}
	return &fault{words, err}
}

// refusal explains what the server said; "" if it said nothing.
func refusal(err error, c *pgx.ConnConfig) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	said := fmt.Sprintf(" (%s, SQLSTATE %s)", e.Message, e.Code)
	if hint := pgbouncer.Hint(pgbouncer.Answer{Code: e.Code, Message: e.Message}); hint != "" {
		return hint + said
	}
	switch e.Code {
	case "28P01":
		if c.Password == "" {
			return "the server wants a password for user " + c.User + said
		}
		return "the server does not take this password for user " + c.User + said
	case "28000":
		return "the server does not let user " + c.User + " in from here: check the user, and pg_hba.conf on the server" + said
	case "3D000":
		return "the server has no database " + c.Database + ": create it, or check the name" + said
	case "42501":
		return "user " + c.User + " lacks a right: GRANT CREATE ON DATABASE, or on the schema throng its use and INSERT, SELECT, UPDATE on its tables" + said
	case "53300":
		return "the server has no connection free: close some, or raise max_connections" + said
	case "53100":
		return "the server's disk is full" + said
	case "25006":
		return "the server is read-only: a standby, or in recovery" + said
	case "3F000", "42P01", "42703":
		return "a table of the schema throng is not as Throng made it: DROP SCHEMA throng CASCADE, and it is made again with all rows" + said
	case "57P01", "57P02", "57P03":
		return "the server is starting or shutting down" + said
	case "55P03":
		return "another transaction holds a table of the schema throng locked: look in pg_stat_activity" + said
	case "57014":
		return "the server cancelled a statement: its statement_timeout may be short" + said
	default:
		return "the server refused" + said
	}
}

// unreachable explains why there is no answer; "" if that is not known.
func unreachable(err error, c *pgx.ConnConfig) string {
	var timeout net.Error
	_, unknownHost := errors.AsType[*net.DNSError](err)
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case unknownHost:
		return "there is no host " + c.Host + ": check the name, and the network"
	case isUntrusted:
		return distrust(untrusted, c)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers at " + address(c) + ": is the server running, and the port right?"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return address(c) + " does not answer in time: a firewall, or an overloaded server?"
	case strings.Contains(err.Error(), "refused TLS"):
		return address(c) + " offers no encryption: switch it on there, or add sslmode=disable if the way is safe"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed),
		strings.Contains(err.Error(), "conn closed"): // the driver has no name for it
		return address(c) + " closed the connection: is it a PostgreSQL server, and still up?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to " + address(c) + ": check the network"
	default:
		return ""
	}
}

// distrust explains what is wrong with a server's certificate.
func distrust(err *tls.CertificateVerificationError, c *pgx.ConnConfig) string {
	const instead = ", or sslmode=require to encrypt without verifying"
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err.Err)
	foreign, isForeign := errors.AsType[x509.HostnameError](err.Err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err.Err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "the server's certificate is not valid before " + day(invalid.Cert.NotBefore) + ": is the clock of this machine right?"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate is not trusted: that of " + nameOf(invalid.Cert) + " expired on " + day(invalid.Cert.NotAfter) +
			"; have it renewed on the server" + instead
	case isForeign && foreign.Certificate != nil:
		return "the server's certificate is not trusted: it is that of " + strings.Join(namesOf(foreign.Certificate), ", ") + ", not of " + c.Host +
			"; use the name in it, or sslmode=verify-ca to go by its CA alone"
	case unknown:
		who := "it is signed by nobody whom this machine knows"
		if len(err.UnverifiedCertificates) > 0 {
			who = "it is signed by " + issuerOf(err.UnverifiedCertificates[0]) + ", which is not the CA that is expected"
		}
		return "the server's certificate is not trusted: " + who + "; give the file of its CA (--database-ca FILE, or Settings)" + instead
	}
	return fmt.Sprintf("the server's certificate is not trusted (%v): give the file of its CA%s", err.Err, instead)
}

// namesOf are the names and addresses that a certificate is for.
func namesOf(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		names = []string{nameOf(c)}
	}
	return names
}

func issuerOf(c *x509.Certificate) string {
	return cmp.Or(c.Issuer.CommonName, strings.Join(c.Issuer.Organization, ", "), "a CA without a name")
}
