package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/throng-sim/throng/engine/fleet"
)

// pullsWaiting is how many workers may wait for a ticket, and ticketsOut how many tickets they may have. JetStream's own limits are
// lower, and it stops to deliver there without an error.
const (
	pullsWaiting = 100_000
	ticketsOut   = 1_000_000
)

// Server is the coordinator's side of a fleet. It implements [fleet.Bus].
type Server struct {
	config   Config
	log      *slog.Logger
	names    names
	embedded *embedded // nil with a cluster
	line     line
	conn     *connection
	system   *connection // observes an embedded server; nil with a cluster
	js       jetstream.JetStream
	bundles  jetstream.ObjectStore
	kept     kept

	issues   *issues
	roster   *roster
	tickets  *tickets
	requests *requests
	orders   *orders

	handler fleet.Handler
	serving sync.Mutex     // orders serve and Close
	busy    sync.WaitGroup // goroutines that serve a message
	stop    context.CancelFunc
	ctx     context.Context // ends at Close
	closing sync.Once
	closed  error
}

var _ fleet.Bus = (*Server)(nil)

// Serve starts the coordinator's side of a fleet. It waits until workers can connect, at most for the context; they can join after
// Listen.
func Serve(ctx context.Context, c Config) (_ *Server, err error) {
	c = c.withDefaults()
	s := &Server{config: c, log: c.Log, names: names{own}}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.roster = newRoster(s.present, s.absent)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.issues, err = openIssues(c.Folder); err != nil {
		return nil, err
	}
	if c.URL == "" {
		err = s.serveOwn(c)
	} else {
		err = s.serveCluster(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return s, s.prepare(ctx)
}

// serveOwn starts an own server and connects to it.
func (s *Server) serveOwn(c Config) error {
	a, err := openAuthority(c.Folder)
	if err != nil {
		return err
	}
	if s.embedded, err = startEmbedded(c, a, s.issues, s.log); err != nil {
		return err
	}
	s.line = s.embedded.line
	if s.conn, err = connect("", "throng coordinator", ErrCredentials, c.Reconnect, s.log, nil, s.embedded.inside(userCoordinator)...); err != nil {
		return err
	}
	s.system, err = connect("", "throng coordinator", ErrCredentials, c.Reconnect, s.log, nil, s.embedded.inside(userSystem)...)
	if err == nil {
		_, err = s.system.Subscribe("$SYS.ACCOUNT.*.DISCONNECT", s.disconnected)
	}
	return err
}

// serveCluster connects to a cluster.
func (s *Server) serveCluster(ctx context.Context, c Config) error {
	if !isCluster(c.URL) {
		return fmt.Errorf("%q is not the URL of a NATS cluster: expected nats://HOST:PORT or tls://HOST:PORT", WithoutSecrets(c.URL))
	}
	s.names.fleet = c.Fleet
	if c.Fleet == "" {
		s.names.fleet = "throng-" + random()[:16]
	} else if c.Fleet != workerName(c.Fleet) {
		return fmt.Errorf("the fleet's name %q is not usable: use letters, digits, - and _", c.Fleet)
	}
	s.line = line{cluster: WithoutSecrets(c.URL), fleet: s.names.fleet}
	var err error
	if s.conn, err = connect(c.URL, "throng coordinator", ErrCredentials, c.Reconnect, s.log, s.restored, c.Access.options(c.URL)...); err != nil {
		return err
	}
	if err := checkVersion(s.conn.ConnectedServerVersion()); err != nil {
		return err
	}
	js, err := jetstream.New(s.conn.Conn)
	if err == nil {
		_, err = js.AccountInfo(ctx)
	}
	if err != nil {
		return errors.Join(errJetStream, err)
	}
	return nil
}

// prepare makes what the fleet needs on the server.
func (s *Server) prepare(ctx context.Context) (err error) {
	if s.js, err = jetstream.New(s.conn.Conn); err != nil {
		return fmt.Errorf("prepare the fleet: %w", err)
	}
	if s.config.URL != "" { // a coordinator that was killed may have left them
		if err := s.remove(ctx); err != nil {
			return err
		}
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	p := publisher{s.names, s.conn.Conn, s.log}
	s.orders = newOrders(p)
	s.requests = newRequests(s)
	s.tickets, err = newTickets(p)
	return err
}

// create makes the fleet's stream and buckets.
func (s *Server) create(ctx context.Context) error {
	_, err := s.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: s.names.tickets(), Subjects: []string{s.names.offers(""), s.names.offers("*")},
		Storage: jetstream.MemoryStorage, Retention: jetstream.WorkQueuePolicy,
	})
	if err == nil {
		err = s.consume(ctx, "")
	}
	if err == nil {
		_, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: s.names.ordersBucket(), Storage: jetstream.MemoryStorage, History: 1})
	}
	if err == nil {
		s.bundles, err = s.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: s.names.bundlesBucket(), Storage: jetstream.MemoryStorage})
	}
	if err != nil {
		return fmt.Errorf("prepare the fleet: %w", err)
	}
	return nil
}

// restored is called when the connection to a cluster was lost and is back. If the cluster has lost the fleet's stream and buckets,
// they are made again: they were in the memory of one of its servers. Workers that noticed it prepare for the run again, with its bundle.
func (s *Server) restored() {
	s.serve(func() {
		ctx, cancel := s.within()
		defer cancel()
		_, err := s.js.Stream(ctx, s.names.tickets())
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s.log.Warn("fleet: the cluster has lost the fleet's queues; they are made again")
			if err = s.create(ctx); err == nil {
				s.kept.lose()
				s.roster.unprepare()
				s.orders.writeAll()
				s.tickets.offerAgain()
			}
		}
		if err == nil {
			err = s.publishAgain()
		}
		if err != nil {
			s.log.Error("fleet: the queues in the cluster are not usable", "error", err)
		}
	})
}

// consume makes the consumer of the tickets for a worker, or for all if to is "".
func (s *Server) consume(ctx context.Context, to string) error {
	_, err := s.js.CreateOrUpdateConsumer(ctx, s.names.tickets(), jetstream.ConsumerConfig{
		Durable: s.names.consumer(to), FilterSubject: s.names.offers(to), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: fleet.LeaseTime, MaxAckPending: ticketsOut, MaxWaiting: pullsWaiting, MemoryStorage: true,
	})
	if err != nil {
		return fmt.Errorf("make the queue of %q: %w", to, err)
	}
	return nil
}

// remove removes the fleet's stream and buckets.
func (s *Server) remove(ctx context.Context) error {
	var all error
	for _, name := range []string{s.names.tickets(), "KV_" + s.names.ordersBucket(), "OBJ_" + s.names.bundlesBucket()} {
		if err := s.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			all = errors.Join(all, fmt.Errorf("remove %s from the cluster: %w", name, err))
		}
	}
	return all
}

// Join returns the line with which workers join. It is a secret: it has the fleet's token in it.
func (s *Server) Join() string { return s.line.String() }

// Listen implements [fleet.Bus].
func (s *Server) Listen(h fleet.Handler) {
	s.handler = h
	for subject, f := range map[string]nats.MsgHandler{s.names.request("*"): s.requests.receive, s.names.enroll(): s.enrolled} {
		sub, err := s.conn.Subscribe(subject, f)
		if err == nil {
			err = sub.SetPendingLimits(1<<20, int(s.config.MaxPartial))
		}
		if err != nil {
			s.log.Error("fleet: workers cannot join", "error", err)
		}
	}
}

// Offer implements [fleet.Bus].
func (s *Server) Offer(to string, t fleet.Ticket) { s.tickets.offer(to, t) }

// Withdraw implements [fleet.Bus].
func (s *Server) Withdraw(t fleet.Ticket) { s.tickets.withdraw(t) }

// Order implements [fleet.Bus].
func (s *Server) Order(to string, content []byte) { s.orders.set(to, content) }

// Reset implements [fleet.Bus].
func (s *Server) Reset(ctx context.Context) error {
	s.tickets.withdrawAll()
	s.kept.clear()
	for _, name := range []string{s.names.tickets(), "OBJ_" + s.names.bundlesBucket()} { // with what a worker may have put there
		stream, err := s.js.Stream(ctx, name)
		if err == nil {
			err = stream.Purge(ctx)
		}
		if err != nil {
			return fmt.Errorf("remove the offers and bundles of the run: %w", err)
		}
	}
	return nil
}

// Dismiss implements [fleet.Bus].
func (s *Server) Dismiss(worker string) {
	if err := s.issues.revoke(worker); err != nil {
		s.log.Error("fleet: the worker could join again after a restart of the coordinator", "worker", worker, "error", err)
	}
	s.roster.remove(worker)
	if s.embedded != nil {
		s.embedded.disconnect(worker)
	}
}

func (s *Server) present(worker string) { s.handler.Present(worker) }

func (s *Server) absent(worker string) { s.handler.Absent(worker) }

// disconnected is called when a connection to the own server has ended.
func (s *Server) disconnected(m *nats.Msg) {
	var event struct{ Client struct{ User string } }
	if json.Unmarshal(m.Data, &event) != nil || event.Client.User != workerName(event.Client.User) {
		return
	}
	if len(s.embedded.connections(event.Client.User)) == 0 {
		s.roster.hurry(event.Client.User, reconnectGrace)
	}
}

// serve handles a message in a goroutine that Close waits for.
func (s *Server) serve(f func()) {
	s.serving.Lock()
	defer s.serving.Unlock()
	if s.ctx.Err() == nil {
		s.busy.Go(f)
	}
}

// Close implements [fleet.Bus]. It ends an own server, and removes the fleet from a cluster.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *Server) close() (err error) {
	s.serving.Lock()
	s.stop()
	s.serving.Unlock()
	s.roster.close()
	if s.tickets != nil {
		s.tickets.close()
	}
	if s.requests != nil {
		s.requests.close()
	}
	s.busy.Wait()
	if s.embedded == nil && s.js != nil {
		ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
		defer cancel()
		err = s.remove(ctx)
	}
	if s.system != nil {
		s.system.stop()
	}
	if s.conn != nil {
		s.conn.stop()
	}
	if s.embedded != nil {
		err = errors.Join(err, s.embedded.stop())
	}
	return err
}

// within limits a call of the server's to the time of one message.
func (s *Server) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.config.Timeout)
}
