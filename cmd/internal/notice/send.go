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

// How a notice is sent.
const (
	attempts    = 4
	longestWait = 2 * time.Minute // that a server may ask for
	answerBytes = 300             // of an answer that are shown
)

// times are how long things may take; tests have less of it.
type times struct {
	attempt time.Duration // at sending a notice
	first   time.Duration // before the second; it grows
	look    time.Duration // between two looks at a run
	again   time.Duration // that the same occasion is not told once more: a breaker may open and close all night
	last    time.Duration // from the end of a run until its last notices are told, at most
}

var usual = times{attempt: 10 * time.Second, first: time.Second, look: 200 * time.Millisecond, again: time.Minute, last: 15 * time.Second}

// refusal is an answer that is none of success.
type refusal struct {
	status string
	body   string
	final  bool          // another attempt would be answered the same
	wait   time.Duration // that the server asks for; 0 is none
}

func (r *refusal) Error() string {
	if r.body == "" {
		return "it answered " + r.status
	}
	return "it answered " + r.status + ": " + r.body
}

// newClient makes a client for one target: it goes nowhere else.
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

// once sends a notice a single time and returns what the server answered.
func once(ctx context.Context, client *http.Client, t Target, m *Message) (answer string, err error) {
	r, err := t.request(m)
	if err != nil {
		return "", concealed(err)
	}
	a, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return "", concealed(err)
	}
	defer func() { _ = a.Body.Close() }() // what was read of it counts
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
		refused.body, refused.final = "it leads elsewhere, where no notice is sent; give the address that it leads to", true
	case a.StatusCode/100 == 4:
		refused.final = true
	}
	return "", refused
}

// concealed is an error without the address that it is about.
func concealed(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		if u.Timeout() || errors.Is(err, context.Canceled) { // at the end there is less of it
			return errors.New("no answer came in time")
		}
		return u.Err
	}
	return err
}

// retryAfter reads how long a server wants to be left alone: in seconds, or until when.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return min(time.Duration(min(n, 3600))*time.Second, longestWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	return 0
}

// send sends a notice, again and again for a while where that may help.
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

// Try sends a notice once, for a person who waits for it, and returns what the server answered.
func Try(ctx context.Context, t Target, m *Message) (answer string, err error) {
	client := newClient(usual.attempt)
	defer client.CloseIdleConnections()
	return once(ctx, client, t, m)
}
