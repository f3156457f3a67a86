package service

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Repeats is how a service treats a changing request that it receives a second time.
type Repeats uint8

// The ways in which services treat repeats.
const (
	// Unsafe services may carry out a request again. It is the default.
	Unsafe Repeats = iota
	// Keyed services carry out requests with the same Idempotency-Key once. A step's claim is trusted after a response has proved
	// it.
	Keyed
	// Never is for a request that must not be sent again once it may have arrived, not even after a crash.
	Never
	// Harmless is for a request that changes nothing more when it is carried out again.
	Harmless
)

// Verify asks a service whether a request was carried out, before it is sent again.
type Verify struct {
	// Ask returns the request that finds out. It must change nothing.
	Ask    func(of InDoubt) (Request, error)
	Expect []int // expected statuses of its response; empty is 200 to 299
	// Judge reads the response. If the request was done, instead replaces its lost response.
	Judge func(a *Answer) (instead *Answer, done bool, err error)
	// After is how long a request may still be carried out after its client is gone.
	After time.Duration
}

// InDoubt is a request that may have been carried out.
type InDoubt struct{ Key, Step, Method, Path string }

// replayHeaders are "true" in a response that repeats the response to an earlier request with the same key.
var replayHeaders = []string{"Idempotency-Replayed", "Idempotent-Replayed"}

func isReplay(h http.Header) bool {
	for _, name := range replayHeaders {
		if strings.EqualFold(h.Get(name), "true") {
			return true
		}
	}
	return false
}

// proof is what is known about a service's treatment of a step's repeats.
type proof uint8

const (
	unproven proof = iota
	proven
	disproven
)

// proofs holds what is known about a service's steps, by path without iterations. The zero value is ready to use. It is safe for
// concurrent use.
type proofs struct {
	mu     sync.Mutex
	of     map[string]proof
	asking map[string]chan struct{} // closed when the step's proof is known
}

// learn records what a response proved.
func (p *proofs) learn(path string, is proof) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]proof{}
	}
	p.of[engine.StepName(path)] = is
}

func (p *proofs) known(path string) proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[engine.StepName(path)]
}

// find returns what is known about a step. The first caller for an unproven step finds out with ask; others wait for the result.
func (p *proofs) find(ctx context.Context, path string, ask func() proof) proof {
	step := engine.StepName(path)
	p.mu.Lock()
	if is := p.of[step]; is != unproven {
		p.mu.Unlock()
		return is
	}
	if asking, ok := p.asking[step]; ok {
		p.mu.Unlock()
		select {
		case <-asking:
		case <-ctx.Done():
		}
		return p.known(path)
	}
	asking := make(chan struct{})
	if p.asking == nil {
		p.asking = map[string]chan struct{}{}
	}
	p.asking[step] = asking
	p.mu.Unlock()
	is := ask()
	p.learn(path, is)
	p.mu.Lock()
	delete(p.asking, step)
	p.mu.Unlock()
	close(asking)
	return is
}

// doubtful reports whether the request of a failed attempt may have been carried out: it was sent, and there is no response of the
// service itself, or an error that does not say how far it got.
func doubtful(a *Answer, left bool) bool {
	if a == nil {
		return left
	}
	switch a.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// rejectedFirst reports whether a status means that a service rejects requests before it looks at idempotency keys. Then it did not
// carry out the first request either.
func rejectedFirst(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// repeatable reports whether a request may be sent again without asking: by the connection pool, and after the machine slept.
func (t *transport) repeatable(call *Call) bool {
	return !call.changing || t.tag || call.Repeats == Harmless || t.proofs.known(call.Path) == proven
}

// change carries out a changing call, and labels it by what is known about repeats.
func (t *transport) change(ctx context.Context, req *http.Request, call *Call) (*Answer, error) {
	watched := !call.resent && call.Session.Take == 0 && !t.repeatable(call)
	answer, err := t.send(ctx, req, call)
	if answer != nil && answer.replayed {
		if watched && !call.repeated {
			call.Session.Doubt(call.Path, t.name+" had already carried out a request that is not in the journal: "+
				"the store is an older copy, or lost its end")
		}
		t.proofs.learn(call.Path, proven)
		if call.repeated || call.Session.Take > 0 {
			call.Record.Label = engine.Confirmed
		}
		return answer, err
	}
	switch {
	case call.Once:
		if err != nil && call.doubt {
			call.Record.Label = engine.NotRepeated
		}
		return answer, err
	case call.verified || !call.repeated && (call.Session.Take == 0 || call.Record.Attempts == 0):
		return answer, err
	case t.tag, call.Repeats == Harmless, answer != nil && rejectedFirst(answer.Status):
	case t.proofs.known(call.Path) == proven:
	case call.Repeats == Keyed && answer != nil && t.proofs.find(ctx, call.Path, func() proof { return t.prove(ctx, req, call) }) == proven:
	default:
		call.Record.Label = engine.Unconfirmed
		return answer, err
	}
	if call.repeated {
		call.Record.Label = engine.Resent
	}
	return answer, err
}

// prove sends a request again with its key, to a service that claims to support keys. A replayed response is the proof.
func (t *transport) prove(ctx context.Context, req *http.Request, by *Call) proof {
	call := by.repetition().sideCall("", by.Cookies.again())
	req = req.WithContext(req.Context())
	req.Header = req.Header.Clone() // an abandoned attempt may still read its headers
	answer, err := t.send(ctx, req, call)
	by.repetition().addCost(call)
	switch {
	case err != nil:
		return unproven
	case answer.replayed:
		return proven
	}
	return disproven
}

// sideCall returns a call for another request of the same step, which is neither journaled nor among the steps.
func (c repetition) sideCall(path string, cookies *Cookies) *Call {
	return &Call{
		Session: c.Session, Clock: c.Clock, Path: c.Path + path, Retry: c.Retry, Secrets: c.Secrets, Auth: c.Auth,
		Private: c.Private, Cookies: cookies, credentials: credentials{token: c.token},
	}
}

// addCost adds the cost of a side call, whose answer is not kept.
func (c repetition) addCost(by *Call) {
	by.space().trim(-1)
	c.Record.Take(&engine.StepRecord{Throttled: by.Record.Throttled, Waits: by.Record.Waits, Service: by.Record.Service})
	c.spent = c.spent.Plus(by.spent)
}

// verify asks whether a request in doubt was carried out. The answer is nil if it was not, so that it must be sent.
func (h *HTTP) verify(ctx context.Context, by *Call) (instead *Answer, err error) {
	v := by.Verify
	if err := by.sleep(ctx, engine.ThrottledByRetry, v.After); err != nil {
		return nil, err
	}
	asks, err := v.Ask(by.named)
	if err != nil {
		return nil, err
	}
	r, err := asks.revealed()
	if err != nil {
		return nil, err
	}
	var done bool
	var mistake error // in the scenario: another attempt does not help
	call := by.repetition().sideCall(".verify", by.Cookies.alone(r, h.address))
	call.Expect = v.Expect
	call.Accept = func(a *Answer) (err error) {
		instead, done, err = v.Judge(a)
		if failure, ok := errors.AsType[*engine.StepError](err); ok && failure.Class == engine.Script {
			mistake, err = err, nil
		}
		return err
	}
	req := h.request(r)
	answer, err := h.transport.send(ctx, req, call)
	by.repetition().addCost(call)
	if err == nil {
		err = cmp.Or(mistake, call.check(answer))
	}
	if err != nil {
		by.Record.Label, by.Record.Attempts = engine.NotRepeated, max(by.Record.Attempts, 1)
		return nil, undecided(err)
	}
	by.doubt, by.verified = false, true
	if !done {
		by.Record.Label = engine.Resent
		return nil, nil //nolint:nilnil // nothing stands in for the answer
	}
	by.Record.Label = engine.Confirmed
	by.Record.Attempts = max(by.Record.Attempts, 1)
	if failure := by.accept(instead); failure != nil {
		return nil, failure
	}
	return instead, nil
}

// undecided returns the failure of a request whose outcome could not be found out. It is not sent again.
func undecided(err error) error {
	failure, ok := errors.AsType[*engine.StepError](err)
	if !ok { // the session ended
		return err
	}
	return engine.Fail(failure.Class, "the request may have been carried out, and `verify` could not find out: it was not sent again: %w", failure.Err)
}

// described returns a request in doubt for display, without its query, which may be private.
func (c display) described(method, path string) string {
	if c.Private {
		return method + " " + notShown
	}
	return redact.Shorten(method+" "+c.display().masked(path), mostNamed)
}

// mostNamed limits the stored name of a request, in bytes.
const mostNamed = 200

// single keeps the connection pool from sending an attempt again by itself, unless nothing was written. For a request without a
// body this is not possible, so that the call is notified instead.
func (c repetition) single(r *http.Request, of *term) *http.Request {
	of.single = true
	if r.Body != nil && r.Body != http.NoBody {
		r.GetBody = nil
		return r
	}
	var written atomic.Int32
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: func() {
		if written.Add(1) > 1 {
			c.silently.Store(true)
		}
	}}))
}
