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

// Repeats says how a service treats a changing request that it gets a second time.
type Repeats uint8

// The ways a service treats repeats.
const (
	// Unsafe services may carry a request out again. It is the default.
	Unsafe Repeats = iota
	// Keyed services carry out requests with one Idempotency-Key once. This is believed of a step once an answer has
	// proved it.
	Keyed
	// Never is a request that must not be sent again once it may have arrived, not even after a crash.
	Never
	// Harmless is a request that changes nothing more when it is carried out again.
	Harmless
)

// Verify asks a service whether a request was carried out, before it is sent again.
type Verify struct {
	// Ask is the request that finds out. It must change nothing.
	Ask    func(of InDoubt) (Request, error)
	Expect []int // statuses of its answer that are good; empty is 200 to 299
	// Judge reads the answer. If the request was done, instead stands in for its lost answer.
	Judge func(a *Answer) (instead *Answer, done bool, err error)
	// After is how long a request may still be carried out once its client is gone.
	After time.Duration
}

// InDoubt is a request that may have been carried out.
type InDoubt struct{ Key, Step, Method, Path string }

// replayHeaders say, if true, that a service answers from an earlier request with the same key.
var replayHeaders = []string{"Idempotency-Replayed", "Idempotent-Replayed"}

func isReplay(h http.Header) bool {
	for _, name := range replayHeaders {
		if strings.EqualFold(h.Get(name), "true") {
			return true
		}
	}
	return false
}

// proof is what is known of how a service treats the repeats of a step.
type proof uint8

const (
	unproven proof = iota
	proven
	disproven
)

// proofs are what is known of a service's steps, by their path without iterations. The zero value is ready and safe for
// concurrent use.
type proofs struct {
	mu     sync.Mutex
	of     map[string]proof
	asking map[string]chan struct{} // closed when the step's proof is there
}

// learn notes what an answer proved.
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

// find returns what is known of a step. The first caller for an unproven step finds it out with ask; others wait for it.
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

// doubtful reports whether a request may have been carried out though its attempt failed: it left, and was not answered
// by the service itself, or with an error that says nothing about how far it came.
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

// turnedAway reports whether a status says that a service carries out no such request, before it looks at what it holds: it
// did not carry out the first one either.
func turnedAway(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// repeatable reports whether a request of a call may be sent again without asking: by the pool of connections, and when
// the machine slept.
func (t *transport) repeatable(call *Call) bool {
	return !call.changing || t.tag || call.Repeats == Harmless || t.proofs.known(call.Path) == proven
}

// change carries out a changing call: send, with what is known of its repeats.
func (t *transport) change(ctx context.Context, req *http.Request, call *Call) (*Answer, error) {
	watched := !call.resent && call.Session.Take == 0 && !t.repeatable(call)
	answer, err := t.send(ctx, req, call)
	if answer != nil && answer.replayed {
		if watched && !call.repeated {
			call.Session.Doubt(call.Path, t.name+" had carried out a request before of which the journal knows nothing: "+
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
	case t.tag, call.Repeats == Harmless, answer != nil && turnedAway(answer.Status):
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

// prove sends a request of a service that says that it honors keys once more, with its key: a service that does answers
// with a replay.
func (t *transport) prove(ctx context.Context, req *http.Request, by *Call) proof {
	call := by.aside("")
	answer, err := t.send(ctx, req, call)
	by.took(call)
	switch {
	case err != nil:
		return unproven
	case answer.replayed:
		return proven
	}
	return disproven
}

// aside is a call for another request of the same step, which stands neither in the journal nor among the steps.
func (c *Call) aside(path string) *Call {
	return &Call{
		Session: c.Session, Clock: c.Clock, Path: c.Path + path, Retry: c.Retry, Secrets: c.Secrets, Auth: c.Auth,
		Private: c.Private, token: c.token,
	}
}

// took counts what a call aside took.
func (c *Call) took(by *Call) {
	c.Record.Take(&engine.StepRecord{Held: by.Record.Held, Waits: by.Record.Waits, Service: by.Record.Service})
	c.spent = c.spent.Plus(by.spent)
}

// verify asks whether a request that is in doubt was carried out. The answer is nil if it was not: it is to be sent.
func (h *HTTP) verify(ctx context.Context, by *Call) (instead *Answer, err error) {
	v := by.Verify
	if err := by.sleep(ctx, engine.RetryGate, v.After); err != nil {
		return nil, err
	}
	r, err := v.Ask(by.named)
	if err == nil {
		r, err = r.revealed()
	}
	if err != nil {
		return nil, err
	}
	var done bool
	var mistake error // in the scenario, which another attempt does not help
	call := by.aside(".verify")
	call.Expect = v.Expect
	call.Accept = func(a *Answer) (err error) {
		instead, done, err = v.Judge(a)
		if failure, ok := errors.AsType[*engine.StepError](err); ok && failure.Class == engine.Script {
			mistake, err = err, nil
		}
		return err
	}
	var req http.Request
	h.request(&r, &req)
	answer, err := h.transport.send(ctx, &req, call)
	by.took(call)
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

// undecided is the failure of a request of which could not be found out whether it was carried out. It is not sent again.
func undecided(err error) error {
	failure, ok := errors.AsType[*engine.StepError](err)
	if !ok { // the session ended
		return err
	}
	return engine.Fail(failure.Class, "the request may have been carried out, and `verify` could not find out: it was not sent again: %w", failure.Err)
}

// described is what people read of a request that is in doubt: no query, which may be private.
func (c *Call) described(method, path string) string {
	if c.Private {
		return method + " " + notShown
	}
	return redact.Shorten(method+" "+c.veiled(path), mostNamed)
}

// mostNamed bounds what is kept of a request's name, in bytes.
const mostNamed = 200

// single has the pool of connections not send an attempt again by itself, unless nothing of it was written. Where the pool
// cannot be kept from it, for a request without a body, the call hears of it.
func (c *Call) single(r *http.Request, of *term) *http.Request {
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
