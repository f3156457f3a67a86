package mock

import (
	"errors"
	"io/fs"
	"net/http"
)

// work does the request's work and writes the answer to b.
func (x *exchange) work(b []byte) (status int, body []byte) {
	status, body = x.locked(b)
	if x.mutation > 0 && x.shop.cfg.OnMutation != nil {
		x.shop.cfg.OnMutation(x.mutation)
	}
	if x.request.Replayed {
		x.shop.count.replays.Add(1)
	}
	return status, body
}

// locked is the part of work that holds the user's lock. A second request with the same key waits here for the first, and then returns
// its stored answer.
func (x *exchange) locked(b []byte) (status int, body []byte) {
	s, u := x.shop, x.user
	u.mu.Lock()
	defer u.mu.Unlock()
	now := era{cycle: x.tag.cycle, tagged: x.tagged, at: x.tag.at.UnixMicro()}
	c := &change{era: now, user: u.id}
	if key := x.r.Header.Get("Idempotency-Key"); key != "" && x.route.change != nil {
		c.key, c.keyed = hashKey(key), true
		if k, ok := u.answered[c.key]; ok && !k.gone(now) {
			x.request.Replayed = true
			return k.write(s, u, b)
		}
	}
	if no := x.enter(c); no != nil {
		return x.refuse(c, no, b)
	}
	if x.route.read != nil {
		return x.look(c, b)
	}
	if x.problem != nil {
		return x.refuse(c, x.problem, b)
	}
	if s.cfg.Scarcity {
		s.till.Lock()
		defer s.till.Unlock()
	}
	if no := x.route.change(storefront{x}, c); no != nil {
		return x.refuse(c, no, b)
	}
	a, no := x.commit(c)
	if no != nil {
		a = no
	}
	return a.write(s, u, b)
}

// enter checks the session of the request, and claims it for the user if it is new.
func (x *exchange) enter(c *change) *refusal {
	text := x.r.Header.Get("X-Shopping-Session-Id")
	if text == "" {
		return nil
	}
	id, ok := parseID(text)
	if !ok {
		return bad("X-Shopping-Session-Id must be a UUID")
	}
	owner, fresh := x.shop.sessions.claim(id, x.user)
	if owner != x.user {
		return &refusal{http.StatusForbidden, "The session belongs to another user"}
	}
	c.session, c.claims, x.inSession = id, fresh, true
	return nil
}

// look answers a call that changes nothing, although it may be the first of a session.
func (x *exchange) look(c *change, b []byte) (status int, body []byte) {
	if c.claims {
		c.op = opSeen
		if _, no := x.commit(c); no != nil {
			return no.write(x.shop, x.user, b)
		}
	}
	body, no := x.route.read(storefront{x}, b)
	if no != nil {
		return no.write(x.shop, x.user, b)
	}
	return http.StatusOK, body
}

// refuse answers with a refusal, and stores it if the request has a key.
func (x *exchange) refuse(c *change, no *refusal, b []byte) (status int, body []byte) {
	switch {
	case c.keyed:
		c.op, c.status, c.detail = opRefused, int32(no.status), no.detail
	case c.claims:
		c.op = opSeen
	default:
		return no.write(x.shop, x.user, b)
	}
	if _, unwritten := x.commit(c); unwritten != nil {
		no = unwritten
	}
	return no.write(x.shop, x.user, b)
}

// commit writes a checked change to the log, numbers it and applies it. If writing fails, nothing has happened: the refusal is not
// stored, a session claimed for the change is released, and the answer is 429, so that waiting for disk space costs a client no attempt.
func (x *exchange) commit(c *change) (answer, *refusal) {
	if err := x.shop.write(c); err != nil {
		if c.claims {
			x.shop.sessions.release(c.session, x.user)
		}
		if on := (*fs.PathError)(nil); errors.As(err, &on) {
			err = on.Err // without the path
		}
		x.w.Header().Set("Retry-After", "1")
		return nil, &refusal{http.StatusTooManyRequests, "The mutation log cannot be written: " + err.Error()}
	}
	x.mutation = x.shop.mutations.Add(1)
	return x.shop.apply(x.user, c), nil
}
