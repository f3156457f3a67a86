package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/throng-sim/throng/engine/scratch"
)

// Limits of an embedded server.
const (
	maxPayload = 1 << 20
	maxPending = 512 << 20 // what may wait for one slow reader, before its connection is closed
	maxMemory  = 4 << 30   // of tickets, orders and bundles
	pingEvery  = 2 * time.Second
	pingsOut   = 2
	startTime  = 10 * time.Second
)

// embedded is a NATS server in this process, with JetStream in memory.
type embedded struct {
	*server.Server
	auth    *authenticator
	scratch *scratch.Folder
	line    line
}

// startEmbedded starts a server for the workers of a fleet.
func startEmbedded(c Config, a *authority, i *issues, log *slog.Logger) (_ *embedded, err error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("the address for workers: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the address for workers: port %q is not a number up to 65535", port)
	}
	e := &embedded{auth: &authenticator{names: names{own}, authority: a, issues: i, inside: random(), tls: c.TLS || !loopback(c.Listen)}}
	e.auth.hosts, e.auth.system = map[string]*rate.Limiter{}, func() *server.Account { return e.SystemAccount() }
	o := &server.Options{
		ServerName: "throng-" + random()[:8], Host: host, Port: int(number), NoLog: true, NoSigs: true,
		MaxPayload: maxPayload, MaxPending: maxPending, PingInterval: pingEvery, MaxPingsOut: pingsOut,
		JetStream: true, JetStreamMaxMemory: maxMemory, JetStreamMaxStore: 1 << 20, CustomClientAuthentication: e.auth,
	}
	if host == "" {
		o.Host = "0.0.0.0"
	}
	if number == 0 {
		o.Port = server.RANDOM_PORT
	}
	if e.auth.tls {
		_, hosts, err := reachable(c.Listen, c.Advertise)
		if err == nil {
			o.TLSConfig, err = a.serving(hosts)
		}
		if err != nil {
			return nil, err
		}
		o.TLS, o.TLSTimeout = true, 5
	}
	if e.scratch, err = scratch.New("", "throng-fleet-"); err != nil {
		return nil, err
	}
	o.StoreDir = e.scratch.Path
	if err := e.start(o, c, log); err != nil {
		return nil, errors.Join(err, e.scratch.Remove())
	}
	return e, nil
}

func (e *embedded) start(o *server.Options, c Config, log *slog.Logger) (err error) {
	// NATS reports an address in use by ending the process's server, without a reason that a program can read.
	probe, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(o.Host, strconv.Itoa(max(o.Port, 0))))
	if err != nil {
		return fmt.Errorf("listen for workers: %w", err)
	}
	if err := probe.Close(); err != nil {
		return fmt.Errorf("listen for workers: %w", err)
	}
	if e.Server, err = server.NewServer(o); err != nil {
		return fmt.Errorf("start the fleet's server: %w", err)
	}
	e.SetLoggerV2(serverLog{log}, false, false, false)
	e.Start()
	if !e.ReadyForConnections(startTime) || !e.JetStreamEnabled() {
		e.Shutdown()
		e.WaitForShutdown()
		return errors.New("the fleet's server has not started: see the log")
	}
	listen := e.Addr().String()
	if host, _, _ := net.SplitHostPort(c.Listen); host == "" {
		listen = net.JoinHostPort("", strconv.Itoa(e.Addr().(*net.TCPAddr).Port))
	}
	address, _, err := reachable(listen, c.Advertise)
	e.line = line{address: address, token: e.auth.authority.token, fleet: own}
	if e.auth.tls {
		e.line.fingerprint = fingerprint(e.auth.authority.certificate.Raw)
	}
	return err
}

// stop ends the server and removes its folder.
func (e *embedded) stop() error {
	e.Shutdown()
	e.WaitForShutdown()
	return e.scratch.Remove()
}

// inside are the options of a connection of this process to its own server.
func (e *embedded) inside(user string) []nats.Option {
	return []nats.Option{nats.InProcessServer(e.Server), nats.UserInfo(user, e.auth.inside)}
}

// connections returns the IDs of a worker's open connections.
func (e *embedded) connections(worker string) []uint64 {
	z, err := e.Connz(&server.ConnzOptions{Username: true, User: worker, State: server.ConnOpen, Limit: 1 << 20})
	if err != nil {
		return nil // the server stops
	}
	var all []uint64
	for _, c := range z.Conns {
		all = append(all, c.Cid)
	}
	return all
}

// disconnect closes a worker's connections.
func (e *embedded) disconnect(worker string) {
	for _, id := range e.connections(worker) {
		_ = e.DisconnectClientByID(id) // it may be closed by now
	}
}

// serverLog writes the server's warnings and errors to a log.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Fatalf(format string, v ...any) { l.write(slog.LevelError, format, v) }

func (l serverLog) Errorf(format string, v ...any) { l.write(slog.LevelWarn, format, v) }

func (l serverLog) Warnf(format string, v ...any) { l.write(slog.LevelWarn, format, v) }

func (l serverLog) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }

func (serverLog) Debugf(string, ...any) {}

func (serverLog) Tracef(string, ...any) {}

func (l serverLog) write(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "fleet: "+fmt.Sprintf(format, v...))
}
