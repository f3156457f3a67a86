package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// onLine returns the beginning of a fault with a trouble of the line.
func onLine(trouble proxy.Trouble) func(s *Site) func() {
	return func(s *Site) func() {
		s.Line.Be(trouble)
		return func() { s.Line.Be(proxy.Trouble{}) }
	}
}

// Line are faults of the network.
var Line = []Fault{
	{Name: "connections cut and refused", Says: "nothing answers at", Begin: func(s *Site) func() {
		s.Line.Refuse()
		s.Line.Cut()
		return func() { s.Line.Listen(s.t) }
	}},
	{Name: "connections reset, new ones refused", Says: "nothing answers at", Begin: func(s *Site) func() {
		s.Line.Refuse()
		s.Line.Reset()
		return func() { s.Line.Listen(s.t) }
	}},
	{Name: "reset in the middle of COPY", Says: "closed the connection", Begin: onLine(proxy.Trouble{ResetAfter: [2]int64{proxy.ToServer: 6000}})},
	{Name: "reset before COPY is confirmed", Says: "closed the connection", Begin: onLine(proxy.Trouble{ResetAt: [2]string{proxy.ToClient: "COPY "}})},
	{Name: "reset before COMMIT is confirmed", Says: "closed the connection", Begin: onLine(proxy.Trouble{ResetAt: [2]string{proxy.ToClient: "COMMIT\x00"}})},
	{Name: "slow: 20 kB/s and 50 ms", Begin: onLine(proxy.Trouble{Rate: 20_000, Latency: 50 * time.Millisecond})},
	{Name: "half-open: answers are lost", Says: "does not answer in time", Begin: onLine(proxy.Trouble{Hold: [2]bool{proxy.ToClient: true}})},
	{Name: "half-open: requests are lost", Says: "does not answer in time", Begin: onLine(proxy.Trouble{Hold: [2]bool{proxy.ToServer: true}})},
	{Name: "silence", Says: "does not answer in time", Begin: onLine(proxy.Trouble{Hold: [2]bool{true, true}})},
	{Name: "server disappears silently", Says: "does not answer in time", Begin: func(s *Site) func() {
		s.Line.Be(proxy.Trouble{Hold: [2]bool{true, true}})
		s.Line.Abandon()
		return func() { s.Line.Be(proxy.Trouble{}) }
	}},
}

// Corrected is the password of a site's user after it was changed on the server.
const Corrected = "open barley"

// Database are faults of a database, its user and its tables.
var Database = []Fault{
	{Name: "password changed on the server", Says: "rejected the password for user", Begin: func(s *Site) func() {
		s.Exec("ALTER ROLE " + s.User + " PASSWORD '" + Corrected + "'")
		s.Disconnect()
		return func() { s.Use(Corrected) }
	}},
	{Name: "tables locked, statement_timeout 1 s", Says: "canceled a statement", Begin: func(s *Site) func() {
		s.Exec("ALTER ROLE " + s.User + " SET statement_timeout = 1000")
		s.Disconnect()
		conn := pgtest.Connect(s.t, s.Server.URL(pgtest.User, s.Name))
		_, err := conn.Exec(s.t.Context(), "BEGIN; LOCK TABLE throng.events IN ACCESS EXCLUSIVE MODE", pgx.QueryExecModeSimpleProtocol)
		s.must(err)
		return func() { s.must(conn.Close(s.t.Context())) }
	}},
	{Name: "schema dropped", Passing: true, Begin: func(s *Site) func() {
		s.Exec("DROP SCHEMA throng CASCADE")
		return func() {}
	}},
	{Name: "a table dropped", Says: "was changed: run DROP SCHEMA", Begin: func(s *Site) func() {
		s.Exec("DROP TABLE throng.events CASCADE")
		return func() { s.Exec("DROP SCHEMA throng CASCADE") }
	}},
	{Name: "permission revoked", Says: "lacks a right: GRANT", Begin: func(s *Site) func() {
		s.Exec("REVOKE INSERT ON throng.events FROM " + s.User)
		return func() { s.Exec("GRANT INSERT ON throng.events TO " + s.User) }
	}},
	{Name: "rows rejected by a constraint", Says: "rejected", Refuses: true, Begin: func(s *Site) func() {
		s.Exec("ALTER TABLE throng.sessions ADD CONSTRAINT picky CHECK (agent_index <> 3) NOT VALID")
		return func() { s.Exec("ALTER TABLE throng.sessions DROP CONSTRAINT picky") }
	}},
	{Name: "read-only", Says: "read-only", Begin: func(s *Site) func() {
		s.Exec("ALTER DATABASE " + s.Name + " SET default_transaction_read_only = on")
		s.Disconnect()
		return func() {
			s.Exec("SET default_transaction_read_only = off", "ALTER DATABASE "+s.Name+" RESET default_transaction_read_only")
			s.Disconnect()
		}
	}},
	{Name: "a standby answers", Says: "read-only: a standby", Begin: func(s *Site) func() {
		s.Line.To(s.Server.Standby(s.t).Address())
		s.Line.Cut()
		return func() {
			s.Line.To(s.Server.Address())
			s.Line.Cut()
		}
	}},
}

// Server are faults of a whole server, which other tests cannot use.
var Server = []Fault{
	restarted("fast"), restarted("immediate"),
	{Name: "max_connections taken by others", Says: "no free connection", Begin: func(s *Site) func() {
		guest := s.Server.Role(s.t)
		s.Line.Refuse()
		s.Line.Cut()
		var open []*pgx.Conn
		for {
			conn, err := pgx.Connect(s.t.Context(), s.Server.URL(guest, s.Name))
			if err != nil {
				break
			}
			open = append(open, conn)
		}
		s.Line.Listen(s.t)
		return func() {
			for _, conn := range open {
				s.must(conn.Close(s.t.Context()))
			}
		}
	}},
}

// restarted returns the fault of a server that stops, and starts again at the end of the fault.
func restarted(mode string) Fault {
	return Fault{Name: "server restarted, " + mode, Says: "closed the connection", Begin: func(s *Site) func() {
		s.Server.Shut(s.t, mode)
		return func() { s.Server.Start(s.t) }
	}}
}

// Encrypted makes a run verify the certificate of its server.
func Encrypted(_ testing.TB, o *Options) {
	o.Query = "sslmode=verify-full&sslrootcert=" + o.Server.Certificate
}

// Certificates are faults of a server with TLS, which other tests cannot use.
var Certificates = []Fault{
	presents("certificate expired", "expired", pgtest.Certificate{Expired: true}),
	presents("certificate of another host", "certificate", pgtest.Certificate{Elsewhere: true}),
}

func presents(name, says string, c pgtest.Certificate) Fault {
	return Fault{Name: name, Says: says, Place: Encrypted, Begin: func(s *Site) func() {
		s.Server.Present(s.t, c)
		s.Disconnect()
		return func() { s.Server.Present(s.t, pgtest.Certificate{}) }
	}}
}

// FullDisk returns the fault of a full disk on the server. It is skipped if this user may not mount a disk.
func FullDisk() Fault {
	var disk *pgtest.Disk
	return Fault{
		Name: "disk of the server full", Says: "the server's disk is full",
		Place: func(t testing.TB, o *Options) {
			disk = o.Server.Disk(t, 64)
			o.Database = fmt.Sprintf("TABLESPACE %s", disk.Tablespace)
		},
		Begin: func(s *Site) func() {
			disk.Fill(s.t)
			return func() { disk.Free(s.t) }
		},
	}
}
