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

// fault is an error with an explanation for users.
type fault struct {
	words string
	err   error
}

func (f *fault) Error() string { return f.words }
func (f *fault) Unwrap() error { return f.err }

// explain explains an error of the driver for users.
func explain(err error, c *pgx.ConnConfig) error {
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

// refusal explains an error message of the server; "" if there is none.
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
			return "the server requires a password for user " + c.User + said
		}
		return "the server rejected the password for user " + c.User + said
	case "28000":
		return "the server does not accept user " + c.User + " from this machine: check the user, and pg_hba.conf on the server" + said
	case "3D000":
		return "the server has no database " + c.Database + ": create it, or check the name" + said
	case "42501":
		return "user " + c.User + " lacks a right: GRANT CREATE ON DATABASE, or on the schema throng its use and INSERT, SELECT, UPDATE on its tables" + said
	case "53300":
		return "the server has no free connection: close some, or raise max_connections" + said
	case "53100":
		return "the server's disk is full" + said
	case "25006":
		return "the server is read-only: a standby, or in recovery" + said
	case "3F000", "42P01", "42703":
		return "a table of the schema throng was changed: run DROP SCHEMA throng CASCADE, and Throng creates it again with all rows" + said
	case "57P01", "57P02", "57P03":
		return "the server is starting or shutting down" + said
	case "55P03":
		return "another transaction has locked a table of the schema throng: see pg_stat_activity" + said
	case "57014":
		return "the server canceled a statement: its statement_timeout may be short" + said
	default:
		return "the server rejected the request" + said
	}
}

// unreachable explains why the server does not respond; "" if that is unknown.
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
		return "nothing answers at " + address(c) + ": check that the server is running, and the port"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return address(c) + " does not answer in time: check for a firewall or an overloaded server"
	case strings.Contains(err.Error(), "refused TLS"):
		return address(c) + " does not support encryption: enable it there, or add sslmode=disable if the network is safe"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed),
		strings.Contains(err.Error(), "conn closed"): // the driver has no error value for it
		return address(c) + " closed the connection: check that it is a PostgreSQL server and running"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to " + address(c) + ": check the network"
	default:
		return ""
	}
}

// distrust explains why a server's certificate is not trusted.
func distrust(err *tls.CertificateVerificationError, c *pgx.ConnConfig) string {
	const instead = ", or sslmode=require to encrypt without verifying"
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err.Err)
	foreign, isForeign := errors.AsType[x509.HostnameError](err.Err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err.Err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return "the server's certificate is not valid before " + day(invalid.Cert.NotBefore) + ": check the clock of this machine"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate is not trusted: the certificate of " + nameOf(invalid.Cert) + " expired on " + day(invalid.Cert.NotAfter) +
			"; renew it on the server" + instead
	case isForeign && foreign.Certificate != nil:
		return "the server's certificate is not trusted: it is for " + strings.Join(namesOf(foreign.Certificate), ", ") + ", not for " + c.Host +
			"; use a name in it, or sslmode=verify-ca to verify only its CA"
	case unknown:
		who := "this machine does not know its issuer"
		if len(err.UnverifiedCertificates) > 0 {
			who = "it is signed by " + issuerOf(err.UnverifiedCertificates[0]) + ", which is not the expected CA"
		}
		return "the server's certificate is not trusted: " + who + "; add the file of its CA (--database-ca FILE, or Settings)" + instead
	}
	return fmt.Sprintf("the server's certificate is not trusted (%v): add the file of its CA%s", err.Err, instead)
}

// namesOf returns the names and addresses of a certificate.
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
