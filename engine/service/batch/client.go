package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine/service/redact"
)

// Statuses of a batch.
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusExpired   = "expired"
	statusCanceled  = "cancelled" //nolint:misspell // the provider's spelling
)

// remote is a batch as the provider describes it.
type remote struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
	remoteFiles
	remoteTimes
	Problems struct {
		Data []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"data"`
	} `json:"errors"`
}

// remoteFiles are the IDs of a batch's files; "" for none.
type remoteFiles struct {
	Input  string `json:"input_file_id"`
	Output string `json:"output_file_id"`
	Errors string `json:"error_file_id"`
}

// remoteTimes are in seconds since 1970; 0 if unknown.
type remoteTimes struct {
	Created int64 `json:"created_at"`
	Expires int64 `json:"expires_at"`
}

func (r *remote) ended() bool {
	switch r.Status {
	case statusCompleted, statusFailed, statusExpired, statusCanceled:
		return true
	}
	return false
}

// full reports whether the batch failed because too much waits in the provider's queue, so that it may be accepted later.
func (r *remote) full() bool {
	for _, p := range r.Problems.Data {
		if p.Code != "token_limit_exceeded" {
			return false
		}
	}
	return len(r.Problems.Data) > 0
}

// problem returns why the batch failed.
func (r *remote) problem() string {
	for _, p := range r.Problems.Data {
		return redact.Shorten(p.Message, 300)
	}
	return "it failed"
}

func (r *remote) made() *made {
	m := &made{Batch: r.ID, File: r.Input, Due: time.Now().UTC().Add(window)}
	if r.Expires > 0 {
		m.Due = time.Unix(r.Expires, 0).UTC()
	}
	return m
}

// unavailable means that the provider did not answer, or asks to try again later.
type unavailable struct {
	err   error
	after time.Duration // at least
	sent  bool          // the provider may have carried the request out
}

func (e *unavailable) Error() string { return e.err.Error() }
func (e *unavailable) Unwrap() error { return e.err }

// final reports whether another attempt would fail the same way.
func final(ctx context.Context, err error) bool {
	_, later := errors.AsType[*unavailable](err)
	return !later || ctx.Err() != nil
}

// uncertain reports whether the provider may have carried out the request that failed.
func uncertain(err error) bool {
	e, ok := errors.AsType[*unavailable](err)
	return ok && e.sent
}

// client sends the requests of the batch API for one batch.
type client struct{ of *batch }

const (
	// requestTimeout and fileTimeout limit a request.
	requestTimeout = 2 * time.Minute
	fileTimeout    = 15 * time.Minute
	// mostReply limits what is read of an answer other than a file.
	mostReply = 32 << 20
)

// request is a request of the batch API.
type request struct {
	method, path string
	query        url.Values
	kind         string // Content-Type; "" without a body
	body         []byte
	timeout      time.Duration
}

// do sends a request once. read gets the body of a good response.
func (c *client) do(ctx context.Context, r request, read func(body io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	to := c.of.queue.service.Address(r.path)
	to.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, to.String(), bytes.NewReader(r.body))
	if err != nil {
		return fmt.Errorf("batch %d: %w", c.of.number, err)
	}
	maps.Copy(req.Header, c.header())
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	resp, err := c.of.queue.service.Transport.RoundTrip(req)
	if err != nil {
		return &unavailable{err: err, sent: true}
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		if err := read(resp.Body); err != nil {
			return &unavailable{err: fmt.Errorf("read the answer to %s %s: %w", r.method, r.path, err), sent: true}
		}
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // a part is enough for a message
	said := fmt.Sprintf("%s %s: status %d: %s", r.method, r.path, resp.StatusCode, messageIn(text))
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return &unavailable{err: errors.New(said), after: retryAfter(resp.Header)}
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout:
		return &unavailable{err: errors.New(said), after: retryAfter(resp.Header), sent: true}
	}
	return &Rejected{resp.StatusCode, said}
}

// header returns the headers that sign a request in.
func (c *client) header() http.Header {
	c.of.queue.mu.Lock()
	defer c.of.queue.mu.Unlock()
	h := c.of.header.Clone()
	for _, name := range []string{"Content-Type", "Accept", "Accept-Encoding", "Idempotency-Key"} {
		h.Del(name)
	}
	return h
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Hour)
}

// messageIn returns the message of an error response, shortened.
func messageIn(body []byte) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return redact.Shorten(e.Error.Message, 300)
	}
	return redact.Shorten(string(bytes.TrimSpace(body)), 300)
}

// patiently repeats a request until the provider answers.
func (c *client) patiently(ctx context.Context, send func() error) error {
	for wait := new(pauses); ; {
		err := send()
		if err == nil {
			c.of.note("")
			return nil
		}
		if final(ctx, err) {
			return err
		}
		if err := c.of.pause(ctx, wait, err); err != nil {
			return err
		}
	}
}

// into returns a function that reads a JSON object.
func into(v any) func(body io.Reader) error {
	return func(body io.Reader) error {
		return json.NewDecoder(io.LimitReader(body, mostReply)).Decode(v)
	}
}

// upload uploads the requests and returns the ID of the file. A file that was uploaded twice costs nothing.
func (c *client) upload(ctx context.Context) (id string, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err = errors.Join(form.WriteField("purpose", "batch"), c.lines(form), form.Close())
	if err != nil {
		return "", fmt.Errorf("write the file of batch %d: %w", c.of.number, err)
	}
	var file struct {
		ID string `json:"id"`
	}
	err = c.patiently(ctx, func() error {
		return c.do(ctx, request{method: http.MethodPost, path: "/files", kind: form.FormDataContentType(), body: body.Bytes(), timeout: fileTimeout}, into(&file))
	})
	return file.ID, err
}

// lines writes the file of requests, one on each line.
func (c *client) lines(form *multipart.Writer) error {
	part, err := form.CreateFormFile("file", fmt.Sprintf("%s-%d.jsonl", c.of.journal.RunID(), c.of.number))
	if err != nil {
		return err
	}
	for _, call := range c.of.calls {
		line, err := json.Marshal(struct {
			ID     string          `json:"custom_id"`
			Method string          `json:"method"`
			URL    string          `json:"url"`
			Body   json.RawMessage `json:"body"`
		}{call.ID, http.MethodPost, call.Endpoint, call.Body})
		if err != nil {
			return err
		}
		if _, err := part.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// create creates the batch. It tries once.
func (c *client) create(ctx context.Context, file string) (*remote, error) {
	body, err := json.Marshal(map[string]any{
		"input_file_id": file, "endpoint": c.of.group.endpoint, "completion_window": "24h", "metadata": c.of.metadata(),
	})
	if err != nil {
		return nil, err
	}
	got := &remote{}
	err = c.do(ctx, request{method: http.MethodPost, path: "/batches", kind: "application/json", body: body, timeout: requestTimeout}, into(got))
	if err == nil && got.ID == "" {
		err = &unavailable{err: errors.New("the provider names no batch"), sent: true}
	}
	return got, err
}

// poll returns the state of the batch. It tries once.
func (c *client) poll(ctx context.Context) (*remote, error) {
	got := &remote{}
	err := c.do(ctx, request{method: http.MethodGet, path: "/batches/" + url.PathEscape(c.of.made.Batch), timeout: requestTimeout}, into(got))
	return got, err
}

const (
	// listed is the number of batches on a page of the list, and mostPages limits the pages that are searched.
	listed    = 100
	mostPages = 1000
	// clockRoom is how far the provider's clock may be behind.
	clockRoom = time.Hour
	// settle is how long a provider may take to list a batch whose creation was cut off.
	settle = 2 * time.Second
)

// search looks for the batch in the provider's list, newest first, and once more a moment later. It returns nil if the provider
// has none.
func (c *client) search(ctx context.Context) (found *remote, err error) {
	for try := range 2 {
		if try > 0 {
			if err := sleep(ctx, settle); err != nil {
				return nil, err
			}
		}
		if found, err = c.searchOnce(ctx); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

func (c *client) searchOnce(ctx context.Context) (*remote, error) {
	after, want := "", c.of.metadata()
	for range mostPages {
		var list struct {
			Data []remote `json:"data"`
			More bool     `json:"has_more"`
			Last string   `json:"last_id"`
		}
		query := url.Values{"limit": {strconv.Itoa(listed)}}
		if after != "" {
			query.Set("after", after)
		}
		err := c.patiently(ctx, func() error {
			return c.do(ctx, request{method: http.MethodGet, path: "/batches", query: query, timeout: requestTimeout}, into(&list))
		})
		if err != nil {
			return nil, err
		}
		for i := range list.Data {
			r := &list.Data[i]
			if maps.Equal(only(r.Metadata, want), want) {
				return r, nil
			}
			after = r.ID
		}
		older := len(list.Data) > 0 && list.Data[len(list.Data)-1].Created < c.of.planned.Add(-clockRoom).Unix()
		if !list.More || len(list.Data) == 0 || older {
			break
		}
	}
	return nil, nil
}

// only returns the entries of m whose names are in like.
func only(m, like map[string]string) map[string]string {
	some := map[string]string{}
	for name := range like {
		if v, ok := m[name]; ok {
			some[name] = v
		}
	}
	return some
}
