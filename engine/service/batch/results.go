package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// result is a line of a file of answers or errors.
type result struct {
	ID       string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// results downloads a file of answers or errors and adds its outcomes. A file that the provider does not have counts as empty.
func (c *client) results(ctx context.Context, file string, got map[string]outcome) error {
	err := c.patiently(ctx, func() error {
		return c.do(ctx, request{method: http.MethodGet, path: "/files/" + url.PathEscape(file) + "/content", timeout: fileTimeout}, func(body io.Reader) error {
			return readResults(body, got)
		})
	})
	if rejected, ok := errors.AsType[*Rejected](err); ok && (rejected.Status == http.StatusNotFound || rejected.Status == http.StatusGone) {
		return nil
	}
	return err
}

// readResults reads lines in any order. Lines that cannot be read are skipped: their calls have no answer. Of several lines for a
// call the first good answer counts, or else the first one.
func readResults(body io.Reader, got map[string]outcome) error {
	r := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			addResult(line, got)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func addResult(line []byte, got map[string]outcome) {
	var r result
	if json.Unmarshal(line, &r) != nil || r.ID == "" {
		return
	}
	o, ok := r.outcome()
	if !ok {
		return
	}
	if earlier, known := got[r.ID]; !known || !earlier.good() && o.good() {
		got[r.ID] = o
	}
}

func (o outcome) good() bool { return o.answer != nil && o.answer.Status/100 == 2 }

// outcome returns what a line says about its call. ok is false if it says nothing.
func (r *result) outcome() (o outcome, ok bool) {
	switch {
	case r.Response != nil && r.Response.Status >= 100 && r.Response.Status < 600:
		return outcome{answer: &Answer{r.Response.Status, plain(r.Response.Body)}}, true
	case r.Error == nil:
		return o, false
	case r.Error.Code == "batch_expired" || r.Error.Code == "batch_cancelled": //nolint:misspell // the provider's spelling
		return outcome{err: ErrExpired}, true
	}
	body, err := json.Marshal(map[string]any{"error": r.Error})
	if err != nil {
		return o, false
	}
	return outcome{answer: &Answer{http.StatusInternalServerError, body}}, true
}

// plain returns a body. Some providers write it as a text with JSON in it.
func plain(body json.RawMessage) []byte {
	var text string
	if len(body) > 0 && body[0] == '"' && json.Unmarshal(body, &text) == nil {
		return []byte(text)
	}
	return body
}
