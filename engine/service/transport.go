package service

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/breaker"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
)

const (
	maxBody   = 32 << 20 // bytes of an answer that are read
	maxHeader = 1 << 20  // bytes of its headers
	// maxPromised bounds the memory that is set aside at once for what a Content-Length promises.
	maxPromised = 1 << 20
	// maxRefusals is how many 429s of a call are kept in its record.
	maxRefusals = 1000
)

// transport carries the calls of one service. It is safe for concurrent use.
type transport struct {
	name        string // of the service
	base        http.RoundTripper
	bound       *concurrency.Limit
	rateLimiter *pace.Limiter // of all requests
	buckets     *buckets
	prefix      string             // of the paths of all requests
	shared      *concurrency.Limit // that other services have a part in; nil is none
	tag         bool               // tell the mock which cycle, step and attempt this is

	breaker   *breaker.Breaker
	retries   *retryBudget
	renewal   renewal
	rejected  atomic.Int64 // 429s
	answers   answers
	proofs    proofs
	patience  atomic.Int64 // of one attempt that has none of its own, a time.Duration; 0 is without end
	witness   Witness
	reached   atomic.Bool // the service has answered
	certified bool        // the client shows a certificate

	descriptors descriptors
}

// do is one call: the request is sent until it has an answer that is not to be tried again, or the answer is taken from
// the journal.
func (t *transport) do(req *http.Request, hash uint64, call *Call) (*Answer, error) {
	if call.Session == nil {
		return t.send(call.Clock.Context(), req, call)
	}
	changing := req.Method != http.MethodGet && req.Method != http.MethodHead
	call.changing = changing && !call.Keyless
	return call.carry(hash, changing, func(ctx context.Context) (*Answer, error) {
		if !call.changing {
			if call.resent {
				call.Record.Label = engine.Resent
			}
			return t.send(ctx, req, call)
		}
		if !call.Once {
			key := call.key(hash)
			call.named = InDoubt{key, call.Path, req.Method, call.named.Path}
			req.Header["Idempotency-Key"] = []string{key}
		}
		return t.change(ctx, req, call)
	})
}

// admit lets the next attempt go: the budget first, then the breaker and the gates. The journal hears of another attempt at
// a call that costs money before it leaves.
func (t *transport) admit(ctx context.Context, call *Call) (pass breaker.Pass, err error) {
	if err := call.claim(ctx); err != nil {
		return pass, err
	}
	if call.bill != nil && call.Session != nil && call.spent.Requests+call.claimed.Requests > call.intended {
		if err := call.intend(ctx); err != nil {
			call.giveBack()
			return pass, err
		}
	}
	if pass, err = t.begin(ctx, call); err != nil {
		call.giveBack()
	}
	return pass, err
}

// send makes attempts until one counts.
func (t *transport) send(ctx context.Context, req *http.Request, call *Call) (*Answer, error) {
	var pauses pauses
	var refused refusals
	renewed := false
	if call.Endpoint == "" {
		call.Endpoint = endpointOf(req.Method, strings.TrimPrefix(req.URL.Path, t.prefix))
	}
	t.retries.earn(time.Now())
	for sends, again := 1, false; ; sends, again = sends+1, true {
		if call.doubt && call.ask != nil {
			if instead, err := call.ask(ctx); instead != nil || err != nil {
				return instead, err
			}
		}
		pass, err := t.admit(ctx, call)
		if err != nil {
			return nil, err
		}
		answer, failure, err := t.attempt(ctx, req, call, attempt{sends, again, pass, &refused})
		unknown := answer != nil && answer.Status == http.StatusUnauthorized && call.Auth != nil
		if !unknown {
			renewed = false
		}
		switch {
		case errors.Is(err, errRenewed):
			sends-- // it was none
			continue
		case errors.Is(err, errSpared):
			continue
		case errors.Is(err, errDescriptors):
			sends--
			if err := t.descriptors.wait(ctx, call, t.name); err != nil {
				return nil, err
			}
			continue
		case unknown && !renewed:
			if renewed, err = t.renew(ctx, call); err != nil {
				return nil, err
			}
			sends-- // what a service does with the attempt must not depend on how old a token was
			continue
		case refuses(answer, call):
			call.turnedAway(answer)
			if err != nil {
				return nil, err
			}
			continue
		case call.adapts(req, answer, err):
			call.turnedAway(answer)
			sends-- // it was none
			continue
		}
		call.Record.Attempts++
		if answer != nil {
			call.Record.Statuses = append(call.Record.Statuses, answer.Status)
		}
		switch {
		case err != nil:
			return nil, err
		case failure == nil:
			return answer, nil
		case call.again(neverSent(failure)):
		case answer == nil || call.readable(answer.Status):
			return nil, failure
		default:
			return answer, nil // its status is the failure
		}
		if err := t.pause(ctx, call, &pauses, answer); err != nil {
			return nil, err
		}
	}
}

// adapts reports whether a request is to be sent in another form after an answer.
func (c *Call) adapts(req *http.Request, a *Answer, err error) bool {
	if c.Adapt == nil || a == nil || err != nil {
		return false
	}
	body := c.Adapt(a)
	if body == nil {
		return false
	}
	setBody(req, body)
	return true
}

// begin waits until an attempt may leave: the breaker lets it through, and it has its place and its turn.
func (t *transport) begin(ctx context.Context, call *Call) (breaker.Pass, error) {
	for {
		pass, err := t.breaker.Pass(ctx, call.holdAt(engine.BreakerGate))
		if err != nil {
			return pass, err
		}
		if err := t.enter(ctx, call); err != nil {
			t.breaker.Done(pass, breaker.SaysNothing, "")
			return pass, err
		}
		if t.breaker.Leave(&pass) {
			return pass, nil
		}
		t.giveBack(call) // it opened meanwhile
		t.leave()
	}
}

// pause waits after an attempt that failed, at least as long as the answer says.
func (t *transport) pause(ctx context.Context, call *Call, pauses *pauses, answer *Answer) error {
	pause := pauses.next(call)
	if answer != nil {
		pause += answer.wait // a floor, and still spread
	}
	if err := call.sleep(ctx, engine.RetryGate, pause); err != nil {
		return err
	}
	return t.retries.spend(ctx, call)
}

// renew gets another token after a 401, which then was no attempt. That a 401 is expected makes no difference: whether
// a token is too old is a matter of time. A token that was issued for this call and is turned away at once makes the 401
// its answer; what another step of the agent has got meanwhile is tried without counting.
func (t *transport) renew(ctx context.Context, call *Call) (issued bool, err error) {
	call.turnedAway(&Answer{Status: http.StatusUnauthorized})
	if issued, err = call.signIn(ctx); err != nil {
		call.Record.Attempts++
	}
	return issued, err
}

// turnedAway notes the status of an answer that does not count as an attempt; nil is none.
func (c *Call) turnedAway(a *Answer) {
	if a != nil && len(c.Record.Statuses) < maxRefusals {
		c.Record.Statuses = append(c.Record.Statuses, a.Status)
	}
}

// attempt is which one it is.
type attempt struct {
	number int  // from 1, as the mock counts them
	again  bool // the request was sent before
	pass   breaker.Pass
	waits  *refusals
}

// attempt sends the request once, tells the rate limiter and the breaker, and gives its place back: not before, or who gets it
// would go out against a refusal. failure is set where another attempt may help; err ends the call, unless it is errRenewed
// errSpared or errDescriptors: then it counts as no attempt.
func (t *transport) attempt(ctx context.Context, req *http.Request, call *Call, which attempt) (answer *Answer, failure *engine.StepError, err error) {
	var again *renewal
	if t.repeatable(call) {
		again = &t.renewal
	}
	once := call.attempt(ctx, again, call.patience(&t.patience))
	defer once.over()
	defer t.leave()
	said, took := breaker.SaysNothing, time.Duration(0)
	defer func() { // also if it panics
		if !call.judged(t.breaker, which.pass, said, failure) {
			call.Record.Service += took
			return
		}
		call.spare(took)
		call.turnedAway(answer)
		answer, failure, err = nil, nil, errSpared
	}()
	if which.pass.Probe { // the engine tries whether the service is there
		call.Clock.Hold()
		defer call.Clock.Release()
	}
	r, err := attemptOf(once, req, which.again)
	if err == nil && !t.repeatable(call) {
		r = call.single(r, once)
	}
	if err == nil {
		err = call.refresh(ctx)
	}
	if err == nil && ctx.Err() != nil { // cut while something held it back: it does not leave, and costs nothing
		err = context.Cause(ctx)
	}
	if err != nil {
		call.giveBack()
		return nil, nil, err
	}
	call.sign(r.Header)
	if t.tag {
		t.label(r, call, which.number)
	}
	start, stood := time.Now(), clock.Lost()
	call.probe = which.pass.Probe
	answer, err = t.exchange(r, call, once)
	took = time.Since(start) - call.waited
	call.waited = 0
	if err != nil && ctx.Err() == nil {
		switch {
		case noDescriptor(err):
			call.giveBack()
			return nil, nil, errDescriptors
		case neverSent(err) && stoodStill(clock.Lost()-stood, took):
			call.giveBack()
			return nil, nil, errRenewed
		}
	}
	left := !neverSent(err)
	call.repeated = call.repeated || call.changing && left && (call.doubt || call.silently.Load())
	call.doubt = call.doubt || call.changing && doubtful(answer, left)
	switch {
	case err != nil && wasRenewed(ctx, once.why()):
		call.pay(call.cost(left, nil))
		return nil, nil, errRenewed
	case err != nil && errors.Is(err, errMemory):
	case err != nil:
		failure, err = classify(ctx, once.why(), t.explained(r.URL.Host, err))
		if failure = call.muted(failure); lastingly(failure) {
			failure, err = nil, failure // another attempt would fail the same way
		}
	case call.readable(answer.Status):
		failure = call.accept(answer)
	case passing(answer.Status):
		failure = engine.Fail(statusClass(answer.Status), "status %d", answer.Status)
	}
	call.pay(call.cost(left, answer))
	t.heard(call, answer, failure)
	if refuses(answer, call) {
		err = t.refused(call, answer, which.waits)
	}
	said = call.verdict(answer, failure, err)
	t.trace(r, call, attempted{start, took, req.GetBody, answer, failure, err})
	return answer, failure, err
}

// stoodStill reports whether an attempt failed while the process stood still for most of its time: a dialer counts that.
func stoodStill(stood, took time.Duration) bool { return stood > time.Second && stood > took/2 }

// label tells the mock which cycle, step and attempt a request is.
func (t *transport) label(r *http.Request, call *Call, number int) {
	var cycle int
	var now time.Time
	if s := call.Session; s != nil {
		cycle, now = s.Cycle, s.Now
	}
	r.Header["X-Throng-Request"] = []string{tag(cycle, call.Path, number, now)}
}

// tag is what the mock is told of a request: cycle/path/attempt and the simulated time.
func tag(cycle int, path string, sends int, now time.Time) string {
	b := strconv.AppendInt(make([]byte, 0, 64), int64(cycle), 10)
	b = append(b, '/')
	b = append(b, path...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(sends), 10)
	b = append(b, ' ')
	return string(now.UTC().AppendFormat(b, time.RFC3339))
}

// exchange sends the request and reads the whole answer, or as much of it as is wanted.
func (t *transport) exchange(r *http.Request, call *Call, of *term) (*Answer, error) {
	t.witness.leaving(r.Header)
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := call.room(resp, of); err != nil {
		return nil, err
	}
	var body []byte
	if call.Pieces != nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err = readPieces(resp.Body, call.Pieces(), of.alive)
	} else {
		body, err = readBody(resp)
	}
	if err != nil {
		call.fits(-1)
		return nil, err
	}
	call.fits(len(body))
	t.witness.arrived()
	t.reached.Store(true)
	answer := newAnswer(resp, body)
	call.redact(answer)
	return answer, nil
}
