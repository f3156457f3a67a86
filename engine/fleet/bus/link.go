package bus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/throng-sim/throng/engine/fleet"
)

// Link is a worker's side of a fleet. It implements [fleet.Link].
type Link struct {
	config WorkerConfig
	log    *slog.Logger
	names  names
	name   string
	conn   *connection

	requests atomic.Uint64 // the number of the last request
	pulls    *pulls
	acks     *acks

	mu          sync.Mutex
	key         *ecdsa.PrivateKey // nil without TLS
	certificate *tls.Certificate
	renewAt     time.Time
	newest      uint64 // revision of the newest order, 0 after the connection was restored
	delivered   uint64 // revision of the order that was delivered last
	orders      chan []byte

	ctx  context.Context // ends at Close
	stop context.CancelFunc
	busy sync.WaitGroup
}

var _ fleet.Link = (*Link)(nil)

// Join joins a fleet with the line that its coordinator shows. It waits for the coordinator, at most for the context.
func Join(ctx context.Context, text string, c WorkerConfig) (*Link, error) {
	at, err := parseLine(text)
	if err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.Name == "" {
		c.Name, _ = os.Hostname() // without one, it is "worker"
	}
	l := &Link{config: c, log: c.Log, names: names{at.fleet}, orders: make(chan []byte, 1)}
	l.pulls, l.acks = newPulls(l), newAcks(l)
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	i, err := l.enroll(ctx, at)
	if err != nil {
		l.stop()
		return nil, err
	}
	if err := l.connect(at, i); err != nil {
		l.stop()
		return nil, err
	}
	if err := l.listen(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// enroll gets an identity from the coordinator, over a connection that is for this only. The worker's key stays here.
func (l *Link) enroll(ctx context.Context, at line) (identity, error) {
	e := enrollment{Name: l.config.Name}
	id := random()
	url, refused, o := at.cluster, ErrCredentials, l.config.Access.options(at.cluster)
	if at.cluster == "" {
		url, refused, o = "nats://"+at.address, ErrToken, []nats.Option{nats.UserInfo(userEnroll+id, at.token), nats.IgnoreDiscoveredServers()}
	}
	if at.fingerprint != "" {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return identity{}, fmt.Errorf("make a key: %w", err)
		}
		l.key = key
		if e.Request, err = l.request(); err != nil {
			return identity{}, err
		}
		o = append(o, nats.Secure(pinned(at.fingerprint)))
	}
	c, err := connect(url, "throng worker", refused, l.config.Timeout, l.log, nil, append(o, nats.CustomInboxPrefix(l.names.enrolling(id)))...)
	if err != nil {
		return identity{}, err
	}
	defer c.stop()
	return enroll(ctx, c, l.names, e, l.config.Timeout)
}

// request returns a request for a certificate.
func (l *Link) request() ([]byte, error) {
	r, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, l.key)
	if err != nil {
		return nil, fmt.Errorf("ask for a certificate: %w", err)
	}
	return r, nil
}

// accept takes a certificate that the coordinator has issued.
func (l *Link) accept(i identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.certificate = &tls.Certificate{Certificate: [][]byte{i.Certificate}, PrivateKey: l.key}
	l.renewAt = time.Now().Add(i.Life / 2)
}

// connect connects with the worker's own identity.
func (l *Link) connect(at line, i identity) (err error) {
	l.name = i.Name
	url, refused, o := at.cluster, ErrCredentials, l.config.Access.options(at.cluster)
	if at.cluster == "" {
		url, refused, o = "nats://"+at.address, ErrRemoved, []nats.Option{nats.IgnoreDiscoveredServers()}
	}
	switch {
	case at.fingerprint != "":
		l.accept(i)
		c := pinned(at.fingerprint)
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.certificate, nil
		}
		o = append(o, nats.Secure(c))
	case at.cluster == "":
		o = append(o, nats.UserInfo(i.User, i.Password))
	}
	o = append(o, nats.CustomInboxPrefix(l.names.inbox(l.name)))
	var base [8]byte
	_, _ = rand.Read(base[:]) // never fails
	l.requests.Store(binary.BigEndian.Uint64(base[:]))
	l.conn, err = connect(url, "throng worker "+l.name, refused, l.config.Reconnect, l.log, l.restored, o...)
	return err
}

// listen subscribes to what the worker receives, and reads its order.
func (l *Link) listen() error {
	for subject, f := range map[string]nats.MsgHandler{
		l.names.order(l.name):           l.ordered,
		l.pulls.subject(queueOwn) + "*": func(m *nats.Msg) { l.pulls.receive(queueOwn, m) },
		l.pulls.subject(queueAny) + "*": func(m *nats.Msg) { l.pulls.receive(queueAny, m) },
	} {
		if _, err := l.conn.Subscribe(subject, f); err != nil {
			return fmt.Errorf("listen to the coordinator: %w", err)
		}
	}
	if err := l.conn.FlushTimeout(l.config.Timeout); err != nil && l.conn.err() != nil { // or the connection is being restored
		return fmt.Errorf("listen to the coordinator: %w", l.conn.err())
	}
	l.background(l.readOrder)
	return nil
}

// background runs a function that ends with the link.
func (l *Link) background(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.busy.Go(f)
	}
}

// restored is called when the connection was lost and is back, maybe to another coordinator.
func (l *Link) restored() {
	l.mu.Lock()
	l.newest = 0
	l.mu.Unlock()
	l.pulls.lost()
	l.background(func() {
		if err := l.Beat(l.ctx); err != nil && l.ctx.Err() == nil {
			l.log.Warn("fleet: the coordinator does not confirm that this worker is back", "error", err)
		}
		l.readOrder()
	})
}

// Name implements [fleet.Link].
func (l *Link) Name() string { return l.name }

// Beat implements [fleet.Link]. It renews the worker's certificate when half of its life has passed.
func (l *Link) Beat(ctx context.Context) error {
	l.mu.Lock()
	message := binary.BigEndian.AppendUint64([]byte{kindBeat}, l.newest)
	renew := l.key != nil && time.Now().After(l.renewAt)
	l.mu.Unlock()
	if _, err := l.ask(ctx, message); err != nil {
		return err
	}
	if renew {
		return l.renew(ctx)
	}
	return nil
}

// renew gets a new certificate for the same name.
func (l *Link) renew(ctx context.Context) error {
	r, err := l.request()
	if err != nil {
		return err
	}
	b, err := l.ask(ctx, append([]byte{kindRenew}, r...))
	if err != nil {
		return err
	}
	i, err := readIdentity(b)
	if err == nil {
		l.accept(i)
	}
	return err
}

// ask sends a message to the coordinator and returns its answer, without the byte that tells how it went.
func (l *Link) ask(ctx context.Context, message []byte) ([]byte, error) {
	m, err := l.conn.ask(ctx, l.names.request(l.name), message, l.config.Timeout)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errors.New("the server runs, but the coordinator does not answer")
	case err != nil:
		return nil, err
	case len(m.Data) == 0:
		return nil, errMalformed
	case m.Data[0] == answerRemoved: // in a cluster, the connection itself is not refused
		l.conn.end(ErrRemoved)
		l.conn.Close()
		return nil, ErrRemoved
	case m.Data[0] == answerError:
		return nil, errors.New("the coordinator could not handle the request: " + string(m.Data[1:]))
	}
	return m.Data[1:], nil
}

// Orders implements [fleet.Link].
func (l *Link) Orders() <-chan []byte { return l.orders }

// ordered receives an order.
func (l *Link) ordered(m *nats.Msg) {
	o, err := readOrder(l.name, m.Data)
	if err != nil {
		l.log.Warn("fleet: an order could not be read", "error", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.revision <= l.newest {
		return
	}
	l.newest = o.revision
	if o.revision == l.delivered {
		return
	}
	l.delivered = o.revision
	select {
	case <-l.orders: // the older one was not read
	default:
	}
	l.orders <- o.content
}

// readOrder reads the worker's order from the bucket. If that fails, the next beat shows that it is missing.
func (l *Link) readOrder() {
	m, err := l.conn.ask(l.ctx, l.names.readOrder(l.name), nil, l.config.Timeout)
	if err == nil && m.Header.Get("Status") == "" {
		l.ordered(m)
	}
}

// Close implements [fleet.Link].
func (l *Link) Close() error {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.busy.Wait()
	l.acks.timer.Stop()
	l.acks.flush()
	if l.conn.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = l.ask(ctx, []byte{kindLeave}) // without it, the coordinator notices later
	}
	l.conn.stop()
	return nil
}
