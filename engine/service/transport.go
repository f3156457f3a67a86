package service

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/breaker"
	"github.com/throng-sim/throng/engine/service/direct"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openfiles"
	"github.com/throng-sim/throng/engine/service/unpack"
	"github.com/throng-sim/throng/engine/spans"
)

const (
	maxBody   = 32 << 20 // most bytes of a body, by default
	maxHeader = 1 << 20  // most bytes of the headers
	// maxPromised limits the memory that is allocated in one step for a Content-Length.
	maxPromised = 1 << 20
	// maxRefusals limits the 429s in the record of a call.
	maxRefusals = 1000
)

// transport sends the calls of one service. It is safe for concurrent use.
type transport struct {
	name     string // of the service
	base     http.RoundTripper
	control  *admission.Controller
	limits   admission.Admitter // control, or the limits of another process
	prefix   string             // path of the service's address
	mostBody int64              // size limit of a response
	tag      bool               // tell the mock which cycle, step and attempt this is

	breaker   *breaker.Breaker
	retries   *retryBudget
	renewal   renewal
	rejected  atomic.Int64 // 429s
	answers   answers
	proofs    proofs
	patience  atomic.Int64 // default timeout of one attempt, a time.Duration; 0 sets none
	witness   Witness
	reached   atomic.Bool // the service has responded
	certified bool        // the client has a certificate
	spans     spans.Options

	openFiles openfiles.Waits
}

// IsSafe reports whether a method changes nothing (RFC 9110, section 9.2.1).
func IsSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// do carries out a call: the request is sent until a response is final, or the answer is taken from the journal.
func (t *transport) do(req *http.Request, hash uint64, call *Call) (*Answer, error) {
	if call.Session == nil {
		return t.send(call.Clock.Context(), req, call)
	}
	if call.batched != nil {
		call.batched.req = req
	}
	changing := !IsSafe(req.Method)
	call.changing = changing && !call.Keyless
	return call.perform(hash, changing, func(ctx context.Context) (*Answer, error) {
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

// admit waits until the next attempt may start: first for the budget, then for the breaker and the limits. Another attempt of a
// call that costs money is journaled before it is sent.
func (t *transport) admit(ctx context.Context, call *Call) (pass breaker.Pass, err error) {
	if err := call.budget().claim(ctx); err != nil {
		return pass, err
	}
	if call.bill != nil && call.Session != nil && call.spent.Requests+call.claimed.Requests > call.intended {
		if err := call.intend(ctx); err != nil {
			call.budget().releaseClaim()
			return pass, err
		}
	}
	if pass, err = t.begin(ctx, call); err != nil {
		call.budget().releaseClaim()
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
	call.request.Endpoint = call.Endpoint
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
			sends-- // it does not count
			continue
		case errors.Is(err, errSpared):
			continue
		case errors.Is(err, openfiles.ErrTooMany):
			sends--
			if err := awaitFile(ctx, call, &t.openFiles, t.name); err != nil {
				return nil, err
			}
			continue
		case unknown && !renewed:
			if renewed, err = t.renew(ctx, call); err != nil {
				return nil, err
			}
			sends-- // what a service does with the attempt must not depend on the age of a token
			continue
		case refuses(answer, call):
			call.noteStatus(answer)
			if err != nil {
				return nil, err
			}
			continue
		case call.adapts(req, answer, err):
			call.noteStatus(answer)
			sends-- // it does not count
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
		case call.again(direct.Unsent(failure)):
		case answer == nil || call.readable(answer.Status):
			return nil, failure
		default:
			return answer, nil // the status is the failure
		}
		if err := t.pause(ctx, call, &pauses, answer); err != nil {
			return nil, err
		}
	}
}

// adapts reports whether a request must be sent in another form after a response.
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

// begin waits until an attempt may be sent: the breaker lets it pass, and it has its slot and its turn. Calls in batches have no limits;
// it waits for their answers.
func (t *transport) begin(ctx context.Context, call *Call) (breaker.Pass, error) {
	if call.batched != nil {
		return breaker.Pass{}, call.batched.await(ctx, call)
	}
	for {
		pass, err := t.breaker.Pass(call.queue().available(ctx, t.name))
		if err != nil {
			return pass, err
		}
		if err := t.limits.Enter(ctx, &call.request, call.queue()); err != nil {
			t.breaker.Done(pass, breaker.SaysNothing, "")
			return pass, err
		}
		if t.breaker.Leave(&pass) {
			return pass, nil
		}
		t.limits.GiveBack(&call.request) // the breaker opened in the meantime
		t.limits.Leave(&call.request)
	}
}

// pause waits after a failed attempt, at least as long as the response says.
func (t *transport) pause(ctx context.Context, call *Call, pauses *pauses, answer *Answer) error {
	pause := pauses.next(call)
	if answer != nil {
		pause += answer.wait // added to the random pause, so that calls stay spread
	}
	if err := call.sleep(ctx, engine.ThrottledByRetry, pause); err != nil {
		return err
	}
	return t.retries.spend(ctx, call)
}

// renew gets another token after a 401, which then does not count as an attempt, even if 401 is expected: the age of a token is a
// matter of timing. If a token that was issued for this call is rejected, the 401 is the answer. A token that another step of the
// agent got in the meantime is tried without counting.
func (t *transport) renew(ctx context.Context, call *Call) (issued bool, err error) {
	call.noteStatus(&Answer{Status: http.StatusUnauthorized})
	if issued, err = call.signIn(ctx); err != nil {
		call.Record.Attempts++
	}
	return issued, err
}

// noteStatus records the status of a response that does not count as an attempt. a may be nil.
func (c *Call) noteStatus(a *Answer) {
	if a != nil && len(c.Record.Statuses) < maxRefusals {
		c.Record.Statuses = append(c.Record.Statuses, a.Status)
	}
}

// attempt identifies an attempt.
type attempt struct {
	number int  // from 1, as the mock counts
	again  bool // the request was sent before
	pass   breaker.Pass
	waits  *refusals
}

// attempt sends the request once, reports to the rate limiters and the breaker, and then releases its slot; earlier, the next call
// would be sent despite a refusal. failure is set if another attempt may help. err ends the call, unless it is errRenewed,
// errSpared or openfiles.ErrTooMany: then the attempt does not count.
func (t *transport) attempt(ctx context.Context, req *http.Request, call *Call, which attempt) (answer *Answer, failure *engine.StepError, err error) {
	var again *renewal
	if t.repeatable(call) {
		again = &t.renewal
	}
	once := call.attempt(ctx, again, call.patience(&t.patience))
	defer once.stop()
	if call.batched == nil {
		defer t.limits.Leave(&call.request)
	}
	said, took := breaker.SaysNothing, time.Duration(0)
	defer func() { // also after a panic
		if !call.outcome().report(t.breaker, which.pass, said, failure) {
			call.Record.Service += took
			return
		}
		call.outcome().countSpared(took)
		call.noteStatus(answer)
		answer, failure, err = nil, nil, errSpared
	}()
	if which.pass.Probe { // a probe takes no time of the step
		call.Clock.Hold()
		defer call.Clock.Release()
	}
	r, err := t.prepare(ctx, once, req, call, which)
	if err != nil {
		call.budget().releaseClaim()
		return nil, nil, err
	}
	start, stood := time.Now(), clock.Lost()
	call.probe = which.pass.Probe
	answer, err = t.exchange(r, call, once)
	took = time.Since(start) - call.waited
	call.waited = 0
	if err != nil && ctx.Err() == nil {
		switch {
		case openfiles.Caused(err):
			call.budget().releaseClaim()
			return nil, nil, openfiles.ErrTooMany
		case direct.Unsent(err) && stoodStill(clock.Lost()-stood, took):
			call.budget().releaseClaim()
			return nil, nil, errRenewed
		}
	}
	left := !direct.Unsent(err)
	call.repeated = call.repeated || call.changing && left && (call.doubt || call.silently.Load())
	call.doubt = call.doubt || call.changing && doubtful(answer, left)
	if err != nil && wasRenewed(ctx, once.reason()) {
		call.budget().pay(left, nil)
		return nil, nil, errRenewed
	}
	failure, err = t.judge(ctx, r, call, once, answer, err)
	call.budget().pay(left, answer)
	if call.batched != nil {
		err = errors.Join(err, t.pauseRefused(ctx, call, answer, which.waits))
	} else {
		if problem := t.observe(call, answer, failure, which.waits); problem != nil {
			err = problem
		}
		said = call.outcome().verdict(answer, failure, err)
	}
	t.trace(r, call, &attempted{start, took, req.GetBody, answer, failure, err})
	return answer, failure, err
}

// prepare returns the request of an attempt.
func (t *transport) prepare(ctx context.Context, once *term, req *http.Request, call *Call, which attempt) (*http.Request, error) {
	r, err := attemptOf(once, req, which.again)
	if err == nil && !t.repeatable(call) {
		r = call.repetition().single(r, once)
	}
	if err == nil {
		err = call.refresh(ctx)
	}
	if err == nil && ctx.Err() != nil { // cut while it was throttled: it is not sent, and costs nothing
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	call.sign(r.Header)
	if err := (jar{call}).dress(r); err != nil {
		return nil, err
	}
	if t.tag {
		t.label(r, call, which.number)
	}
	t.announce(r, call)
	return r, nil
}

// judge returns the failure of an attempt, if another one may help, or the error that ends the call.
func (t *transport) judge(ctx context.Context, r *http.Request, call *Call, once *term, answer *Answer, err error) (*engine.StepError, error) {
	switch {
	case err != nil && errors.Is(err, errMemory):
		return nil, err
	case err != nil:
		failure, err := classify(ctx, once.reason(), t.explained(r.URL.Host, err))
		if failure = call.display().redactedFailure(failure); lastingly(failure) {
			return nil, failure // another attempt would fail the same way
		}
		return failure, err
	case call.readable(answer.Status):
		return call.accept(answer), nil
	case passing(answer.Status):
		return engine.Fail(statusClass(answer.Status), "status %d", answer.Status), nil
	}
	return nil, nil
}

// stoodStill reports whether the process stood still for most of a failed attempt, which dialers count as elapsed time.
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

// tag returns the text for the mock: cycle/path/attempt and the simulated time.
func tag(cycle int, path string, sends int, now time.Time) string {
	b := strconv.AppendInt(make([]byte, 0, 64), int64(cycle), 10)
	b = append(b, '/')
	b = append(b, path...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(sends), 10)
	b = append(b, ' ')
	return string(now.UTC().AppendFormat(b, time.RFC3339))
}

// exchange sends the request and reads the whole response, or as much of it as is needed.
func (t *transport) exchange(r *http.Request, call *Call, of *term) (*Answer, error) {
	t.witness.leaving(r.Header)
	resp, err := call.roundTrip(t.base, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := unpack.Body(r, resp); err != nil {
		return nil, err
	}
	if err := call.space().reserve(resp, of, t.mostBody); err != nil {
		return nil, err
	}
	var body []byte
	if call.Pieces != nil && llm.IsStream(resp.Header) {
		body, err = readStream(resp.Body, t.mostBody, call.Pieces(), of.restart)
	} else {
		body, err = readBody(resp, t.mostBody)
	}
	if err != nil {
		call.space().trim(-1)
		return nil, err
	}
	call.space().trim(len(body))
	t.witness.arrived()
	t.reached.Store(true)
	set := call.Cookies.arrive(resp, r.URL)
	answer := newAnswer(resp, body)
	call.display().redact(answer)
	answer.putCookies(set)
	return answer, nil
}
