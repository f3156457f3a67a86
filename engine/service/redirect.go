package service

import (
	"net/url"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redirects"
)

// Follow is Do for a call that follows redirects on the service's host. The requests after the first are journaled under paths of
// their own (order~2, order~3), so that after a crash none of them is sent again that was answered, and a changing one has its own
// idempotency key. The answer is the last one, with the cookies of all of them.
func (h *HTTP) Follow(call *Call, r Request) (*Answer, error) {
	var set []string
	one := call
	for hops := 1; ; hops++ {
		answer, err := h.ask(one, &r)
		if one != call {
			one.space().trim(-1) // the step claims memory for what it keeps
			one.Record.Redirects = min(one.Record.Attempts, 1)
			call.Record.Take(&one.Record)
		}
		if err != nil {
			return nil, err
		}
		next, moves, err := h.redirected(one, &r, answer)
		if !moves || err != nil {
			if set = append(set, answer.Cookies()...); call.Cookies != nil {
				answer.putCookies(set)
			}
			if err == nil {
				err = one.check(answer)
			}
			return answer, err
		}
		set = append(set, answer.Cookies()...)
		if hops > redirects.Most {
			return answer, engine.Fail(engine.ClientError, "more than %d redirects, the last to %s", redirects.Most, one.display().forDisplay(next.Target.path))
		}
		r, one = next, hop(call, one, answer, hops+1)
	}
}

// hop returns the call of a request that follows a redirect.
func hop(c, last *Call, a *Answer, number int) *Call {
	return &Call{
		Session: c.Session, Purse: c.Purse, Clock: c.Clock, Path: c.Path + "~" + strconv.Itoa(number), Retry: c.Retry, Timeout: c.Timeout, Once: c.Once,
		Repeats: c.Repeats, Verify: c.Verify, Keyless: c.Keyless, Expect: c.Expect, Accept: c.Accept, Secrets: c.Secrets, Auth: c.Auth, Private: c.Private,
		Cookies: last.Cookies.after(a), account: account{announcement: announcement{announced: last.announced}},
	}
}

// redirected returns the request that a response asks for. A response whose status the step expects is final.
func (h *HTTP) redirected(call *Call, r *Request, a *Answer) (next Request, moves bool, err error) {
	if len(call.Expect) > 0 && call.expects(a.Status) {
		return next, false, nil
	}
	from := h.address(r.Target)
	if r.rooted {
		from = h.rooted(r.Target)
	}
	method, u, moves, err := redirects.Next(r.Method, from, a.Status, a.Header.Get("Location"))
	switch {
	case err != nil:
		return next, true, &engine.StepError{Class: engine.ClientError, Err: err}
	case !moves:
		return next, false, nil
	case !redirects.SameHost(u, h.base):
		where := &url.URL{Scheme: u.Scheme, Host: u.Host}
		return next, true, engine.Fail(engine.ClientError, "it redirects to another host, %s: nothing was sent there; if it is the right one, use it in `url` of the service %s",
			call.display().forDisplay(where.String()), h.name)
	}
	next = Request{Method: method, Header: redirects.WithoutBody(r.Header), Secrets: r.Secrets, rooted: true}
	if method == r.Method {
		next.Header, next.Body, next.Kind = r.Header.Clone(), r.Body, r.Kind
	}
	delete(next.Header, "Idempotency-Key")
	next.Target, err = targetOf(u, u.Path)
	return next, true, err
}
