package bus

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// enrollment is what a process sends to become a worker.
type enrollment struct {
	Name    string
	Request []byte // for a certificate, in DER; "" without TLS
}

// identity is the answer: how the worker connects from then on.
type identity struct {
	Name        string
	Certificate []byte        `json:",omitempty"` // in DER
	Life        time.Duration `json:",omitempty"` // of the certificate
	User        string        `json:",omitempty"` // without TLS
	Password    string        `json:",omitempty"`
	Error       string        `json:",omitempty"` // a sentence
}

// enrolled handles a process that wants to become a worker.
func (s *Server) enrolled(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, s.names.enrolling("")) {
		return
	}
	s.serve(func() {
		var e enrollment
		err := json.Unmarshal(m.Data, &e)
		var i identity
		if err == nil {
			i, err = s.admit(e)
		}
		if err != nil {
			i = identity{Error: err.Error()}
		}
		answer, err := json.Marshal(i)
		if err == nil {
			err = s.conn.Publish(m.Reply, answer)
		}
		if err != nil {
			s.log.Warn("fleet: a worker that has joined could not be informed", "worker", i.Name, "error", err)
		}
	})
}

// admit makes the identity of a new worker.
func (s *Server) admit(e enrollment) (identity, error) {
	name := s.roster.enroll(workerName(e.Name), func(name string) bool {
		return s.embedded != nil && len(s.embedded.connections(name)) > 0
	})
	if err := s.issues.revoke(name); err != nil { // an earlier worker may have had the name
		return identity{}, err
	}
	if err := s.prepareWorker(name); err != nil {
		return identity{}, err
	}
	return s.identify(name, e.Request)
}

// identify issues an identity.
func (s *Server) identify(name string, request []byte) (_ identity, err error) {
	i := identity{Name: name}
	switch {
	case s.embedded == nil:
	case s.embedded.auth.tls:
		i.Life = s.config.CertificateLife
		i.Certificate, err = s.embedded.auth.authority.sign(request, name, s.issues.next(), i.Life)
	default:
		issue := s.issues.next()
		i.User, i.Password = user(name, issue), s.embedded.auth.password(name, issue)
	}
	return i, err
}

// renewed answers a worker that asks for a new certificate for its name.
func (s *Server) renewed(worker string, request []byte) []byte {
	i, err := s.identify(worker, request)
	if err != nil {
		i = identity{Error: err.Error()}
	}
	answer, err := json.Marshal(i)
	if err != nil {
		return append([]byte{answerError}, err.Error()...)
	}
	return append([]byte{answerOK}, answer...)
}

// prepareWorker makes the queue of a worker.
func (s *Server) prepareWorker(name string) error {
	ctx, cancel := s.within()
	defer cancel()
	if err := s.consume(ctx, name); err != nil {
		return err
	}
	s.roster.prepare(name)
	return nil
}

// enroll asks a coordinator for an identity. It waits until the coordinator listens, also if the connection is interrupted meanwhile.
func enroll(ctx context.Context, c *connection, n names, e enrollment, timeout time.Duration) (identity, error) {
	message, err := json.Marshal(e)
	if err != nil {
		return identity{}, err
	}
	for {
		m, err := c.ask(ctx, n.enroll(), message, timeout)
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, errInterrupted) {
			select {
			case <-time.After(reconnectWait):
				continue
			case <-ctx.Done():
				return identity{}, errors.New("the server runs, but no coordinator of this fleet answers: start the run, or copy the join line again")
			}
		}
		if err != nil {
			return identity{}, err
		}
		return readIdentity(m.Data)
	}
}

func readIdentity(b []byte) (identity, error) {
	var i identity
	if err := json.Unmarshal(b, &i); err != nil {
		return i, errMalformed
	}
	if i.Error != "" {
		return i, errors.New("the coordinator refuses this worker: " + i.Error)
	}
	return i, nil
}
