package notice

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Limits of sending a notification.
const (
	attempts    = 4
	longestWait = 2 * time.Minute // that a server may request
	answerBytes = 300             // of a response that are shown
)

// times are the timeouts and intervals. Tests use shorter ones.
type times struct {
	attempt time.Duration // timeout of an attempt
	first   time.Duration // wait before the second attempt; later waits are longer
	look    time.Duration // interval of checking a run
	again   time.Duration // minimum time between notifications of the same kind: a breaker may open and close all night
	last    time.Duration // time to send the last notifications after the end of a run
}

var usual = times{attempt: 10 * time.Second, first: time.Second, look: 200 * time.Millisecond, again: time.Minute, last: 15 * time.Second}

// refusal is a response without success.
type refusal struct {
	status string
	body   string
	final  bool          // another attempt would fail too
	wait   time.Duration // requested by the server, or 0
}

func (r *refusal) Error() string {
	if r.body == "" {
		return "the server answered " + r.status
	}
	return "the server answered " + r.status + ": " + r.body
}

// newClient returns a client for one target. It does not follow redirects to other hosts.
func newClient(patience time.Duration) *http.Client {
	return &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if next.Method != http.MethodPost || next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// once sends a notification in one attempt and returns the response of the server.
func once(ctx context.Context, client *http.Client, t Target, m *Message) (answer string, err error) {
	r, err := t.request(m)
	if err != nil {
		return "", concealed(err)
	}
	a, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return "", concealed(err)
	}
	defer func() { _ = a.Body.Close() }() // the text that was read is enough
	text, _ := io.ReadAll(io.LimitReader(a.Body, answerBytes))
	body := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "")), " ")
	if a.StatusCode/100 == 2 {
		return strings.TrimSpace(a.Status + " " + body), nil
	}
	refused := &refusal{status: a.Status, body: body}
	switch {
	case a.StatusCode == http.StatusTooManyRequests || a.StatusCode == http.StatusServiceUnavailable:
		refused.wait = retryAfter(a.Header.Get("Retry-After"), time.Now())
	case a.StatusCode == http.StatusRequestTimeout:
	case a.StatusCode/100 == 3:
		refused.body, refused.final = "it redirects to another address; use that address instead", true
	case a.StatusCode/100 == 4:
		refused.final = true
	}
	return "", refused
}

// concealed returns an error without the address, which is a secret.
func concealed(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		if u.Timeout() || errors.Is(err, context.Canceled) { // the timeout, or the end of the run
			return errors.New("the request timed out")
		}
		return u.Err
	}
	return err
}

// retryAfter parses a Retry-After header: seconds, or a time.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return min(time.Duration(min(n, 3600))*time.Second, longestWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	return 0
}

// send sends a notification, with retries unless the failure is final.
func send(ctx context.Context, client *http.Client, t Target, m *Message, first time.Duration) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = first
	for n := 1; ; n++ {
		_, err := once(ctx, client, t, m)
		refused, is := errors.AsType[*refusal](err)
		if err == nil || is && refused.final || n == attempts || ctx.Err() != nil {
			return err
		}
		wait := waits.NextBackOff()
		if is {
			wait = max(wait, refused.wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// Try sends a notification in one attempt, for a user who waits, and returns the response of the server.
func Try(ctx context.Context, t Target, m *Message) (answer string, err error) {
	client := newClient(usual.attempt)
	defer client.CloseIdleConnections()
	return once(ctx, client, t, m)
}
