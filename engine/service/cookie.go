package service

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/cookies"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Cookies are the cookies of a call. A call without them sends none, and leaves those of its response as they are.
type Cookies struct {
	// Set are the cookies that the responses before the call have set, normalized and in order.
	Set []string

	request *Request              // as it is sent, with marks of cookies
	address func(Target) *url.URL // of a target
	login   []string              // set by the agent's login
	renewed []string              // set by a login that the call needed in addition; they belong to its response
	values  []string              // that were sent or received, to be removed from texts for display
	sent    []*http.Cookie        // by the newest attempt
}

// leastHidden is the length in bytes from which the value of a cookie is removed from texts. A shorter one may
// occur by chance, and is not secret.
const leastHidden = 8

// hide removes the values of cookies from texts for display.
func (k *Cookies) hide(values ...string) {
	for _, v := range values {
		if len(v) >= leastHidden {
			k.values = append(k.values, v)
		}
	}
}

// signIn sets the cookies of the login that the session began with, and those of the one that is valid now. If that is another one,
// which no earlier response has brought along, its cookies replace those of earlier responses: they belong together.
func (k *Cookies) signIn(first, now *token) {
	if first == nil {
		first = now
	}
	k.login, k.renewed = first.cookies, nil
	known := slices.ContainsFunc(now.cookies, func(line string) bool { return slices.Contains(k.Set, line) })
	if now != first && !known {
		k.renewed = now.cookies
	}
	k.hide(cookies.Values(first.cookies)...)
	k.hide(cookies.Values(now.cookies)...)
}

// spellings returns the forms of the values to remove.
func (k *Cookies) spellings() (all []string) {
	if k == nil {
		return nil
	}
	for _, v := range k.values {
		all = append(all, redact.Spellings(v)...)
	}
	return all
}

// jar has the methods of a call that are about its cookies.
type jar struct{ *Call }

// dress adds the cookies to an attempt, and replaces the marks of cookies in it.
func (c jar) dress(r *http.Request) error {
	k := c.Cookies
	if k == nil {
		return nil
	}
	k.sent = cookies.Sent(slices.Concat(k.login, k.Set, k.renewed), r.URL)
	r.Header = r.Header.Clone() // the next attempt may need others
	if header := cookies.Join(r.Header.Get("Cookie"), k.sent); header != "" {
		r.Header["Cookie"] = []string{header}
	}
	for _, one := range k.sent {
		k.hide(one.Value)
	}
	missing := ""
	for _, values := range r.Header {
		for i, v := range values {
			if redact.NeedsCookie(v) {
				values[i], missing = redact.RevealCookies(v, k.value, nil)
			}
			if missing != "" {
				return k.missing(missing)
			}
		}
	}
	if k.request == nil || !k.request.marked() {
		return nil
	}
	return k.fill(r)
}

// fill replaces the marks of cookies in target and body.
func (k *Cookies) fill(r *http.Request) error {
	of := *k.request
	var missing [3]string
	of.Target.path, missing[0] = redact.RevealCookies(of.Target.path, k.value, url.PathEscape)
	of.Target.query, missing[1] = redact.RevealCookies(of.Target.query, k.value, url.QueryEscape)
	body, absent := redact.RevealCookies(string(of.Body), k.value, of.Kind.escape())
	missing[2] = absent
	for _, name := range missing {
		if name != "" {
			return k.missing(name)
		}
	}
	if path, err := url.PathUnescape(of.Target.path); err != nil || climbs(path) {
		return engine.Fail(engine.Script, "a cookie in the path has dots that climb")
	}
	r.URL = k.address(of.Target)
	if r.Body != nil {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	if r.GetBody != nil {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	}
	return nil
}

// value returns the value of a cookie that the attempt sends.
func (k *Cookies) value(name string) (string, bool) {
	value, ok := cookies.Value(k.sent, name)
	k.hide(value)
	return value, ok
}

// missing returns the failure of a request that needs a cookie which has not been set.
func (k *Cookies) missing(name string) error {
	set := "no cookie has been set for this path"
	if names := cookies.Names(k.sent); len(names) > 0 {
		set = "those set so far: " + redact.Shorten(strings.Join(names, ", "), mostListed)
	}
	return engine.Fail(engine.Script, "there is no cookie %s to send; %s", name, set)
}

// arrive normalizes the cookies of a response, and takes them out of its headers until it has been redacted.
func (k *Cookies) arrive(resp *http.Response, u *url.URL) (set []string) {
	if k == nil {
		return nil
	}
	now, err := http.ParseTime(resp.Header.Get("Date")) // the service's clock, if the response has it
	if err != nil {
		now = time.Now()
	}
	set = cookies.Normalize(resp.Header[cookies.Header], u, now)
	delete(resp.Header, cookies.Header)
	k.hide(cookies.Values(set)...)
	return set
}

// putCookies sets the cookies of a response.
func (a *Answer) putCookies(set []string) {
	if len(set) > 0 {
		a.Header[cookies.Header] = set
	}
}

// Cookies returns the normalized cookies that a response to a call with cookies has set.
func (a *Answer) Cookies() []string { return a.Header[cookies.Header] }

// Values of cookies are journaled apart from the responses that set them, as private entries: they are removed from the store when
// the cycle is closed, as responses of private steps are. No step has a path with a !.
const (
	cookiesEntry = "!cookies" // after the path of a step: the cookies of its response
	loginEntry   = "!login."  // before the name of a service: the login that the session uses
)

// Inner reports whether a path is not that of a step or request, but of its cookies.
func Inner(path string) bool {
	return strings.HasSuffix(path, cookiesEntry) || strings.HasPrefix(path, loginEntry)
}

// LoginPath returns where a session journals its login to a service.
func LoginPath(service string) string { return loginEntry + service }

// cookieEntry returns the journal entry with the cookies of a response.
func cookieEntry(path string, a *Answer) engine.Entry {
	kept := &Answer{Status: a.Status, Header: http.Header{cookies.Header: a.Cookies()}}
	return engine.Entry{Path: path, Attempts: 1, Output: encodeAnswer(kept), Private: true}
}

func (c jar) keeps(a *Answer) bool { return c.Cookies != nil && len(a.Cookies()) > 0 }

// without returns a response without the values of its cookies.
func (c jar) without(a *Answer) *Answer {
	if !c.keeps(a) {
		return a
	}
	kept := *a
	kept.Header = maps.Clone(a.Header)
	kept.Header[cookies.Header] = hidden(a.Cookies())
	return &kept
}

func hidden(set []string) []string {
	all := make([]string, len(set))
	for i, line := range set {
		all[i] = cookies.Hidden(line)
	}
	return all
}

// restore puts the values of its cookies back into a journaled response. A recording has none, and needs none.
func (c jar) restore(a *Answer) {
	if !c.keeps(a) {
		return
	}
	e, ok := c.Session.Replay(c.Path + cookiesEntry)
	if !ok {
		return
	}
	if kept, err := decodeAnswer(e.Output); err == nil && slices.Equal(hidden(kept.Cookies()), a.Cookies()) {
		a.putCookies(kept.Cookies())
	}
}

// after returns the cookies of a request that follows a response.
func (k *Cookies) after(a *Answer) *Cookies {
	if k == nil {
		return nil
	}
	return &Cookies{Set: slices.Concat(k.Set, a.Cookies())}
}

// alone returns the cookies of another request of the same step.
func (k *Cookies) alone(r *Request, address func(Target) *url.URL) *Cookies {
	if k == nil {
		return nil
	}
	return &Cookies{Set: slices.Concat(k.Set, k.renewed), login: k.login, request: r, address: address}
}

// again returns the cookies of the same request, sent on its own.
func (k *Cookies) again() *Cookies {
	if k == nil {
		return nil
	}
	return k.alone(k.request, k.address)
}

// keepRenewed adds to a response the cookies of a login that its request needed in addition, before those of its own: the later
// steps of the session send them, and after a resume they are in the journal.
func (c jar) keepRenewed(a *Answer) {
	if c.Cookies == nil || a == nil || len(c.Cookies.renewed) == 0 {
		return
	}
	a.Header[cookies.Header] = slices.Concat(c.Cookies.renewed, a.Cookies())
	c.Cookies.renewed = nil
}
