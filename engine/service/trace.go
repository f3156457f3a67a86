package service

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/redact"
)

const (
	mostShown   = 2 << 10  // bytes of a body that are shown
	mostMasked  = 8 << 10  // bytes of any text that are shown: finding values that look like secrets is slow
	mostScanned = 64 << 10 // bytes that are searched for secrets, so that none is cut in two at the end of the text
	notShown    = "private, not shown"
)

// attempted is a finished attempt. It belongs to the goroutine that made it.
type attempted struct {
	began   time.Time
	took    time.Duration
	sent    func() (io.ReadCloser, error) // body of its request; nil if there is none
	answer  *Answer                       // nil if there is none
	failure *engine.StepError
	err     error // error that ended the call
}

// failed reports whether the attempt failed. A 429 that is waited out is not a failure.
func (a *attempted) failed(c *Call) bool {
	switch {
	case a.answer == nil:
		return a.failure != nil || a.err != nil
	case refuses(a.answer, c):
		return false
	}
	return a.failure != nil || a.err != nil || !c.expects(a.answer.Status)
}

// trace sends an HTTP request and its response to the session's tracer, if it wants them.
func (t *transport) trace(r *http.Request, call *Call, a *attempted) {
	failed := a.failed(call)
	t.answers.count(call, a)
	a.noteTrail(call, t.name, failed)
	if !call.Session.Traced(failed) {
		return
	}
	e := call.display().exchange(a)
	path, query, _ := strings.Cut(r.URL.RequestURI(), "?")
	if query != "" && !call.Private {
		path += "?" + query
	}
	e.Service, e.Request = t.name, redact.Shorten(r.Method+" "+call.display().masked(path), mostShown)
	e.Headers = call.display().headers(r)
	if a.sent != nil {
		if body, err := a.sent(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, mostScanned)) // from memory
			e.Sent = call.display().shown(text, int(r.ContentLength))
			if call.bill != nil {
				e.Speech = call.display().speech(text, a.answer)
			}
		}
	}
	if call.bill != nil {
		e.Request = call.bill.model
	}
	call.Session.Trace(e, failed)
}

// trace sends a statement and its result to the session's tracer, if it wants them.
func (p *Postgres) trace(s *database.Statement, call *Call, a *attempted) {
	failed := a.failed(call)
	p.answers.count(call, a)
	a.noteTrail(call, p.name, failed)
	if !call.Session.Traced(failed) {
		return
	}
	e := call.display().exchange(a)
	e.Service, e.Request, e.Status = p.name, call.display().shown([]byte(s.Query.Text), len(s.Query.Text)), 0
	if call.Private {
		e.Request = redact.Shorten(s.Query.Text, mostShown) // its data is in the args
	}
	if len(s.Args) > 0 {
		args := s.Listed(mostScanned)
		e.Sent = call.display().shown(args, len(args))
	}
	call.Session.Trace(e, failed)
}

// exchange returns what is shown of an attempt, except its request.
func (c display) exchange(a *attempted) engine.Exchange {
	e := engine.Exchange{At: a.began, Path: c.Path, Attempt: c.Record.Attempts + 1, Took: a.took}
	switch {
	case a.failure != nil && (a.answer == nil || a.failure.Class == engine.BadAnswer):
		e.Error = c.display().forDisplay(a.failure.Error())
	case a.answer == nil && a.err != nil:
		e.Error = c.display().forDisplay(a.err.Error())
	}
	if a.answer != nil {
		e.Status, e.Answer = a.answer.Status, c.display().shown(a.answer.text())
	}
	return e
}

// Kept returns what is shown of a journaled result. Its request is not stored. The secrets of its service were removed before it
// was stored.
func Kept(e *engine.Entry) engine.Exchange {
	x := engine.Exchange{Path: e.Path, Attempt: max(e.Attempts, 1), Error: e.Error, Kept: true}
	if len(e.Statuses) > 0 {
		x.Status = e.Statuses[len(e.Statuses)-1]
	}
	if e.Private {
		x.Answer = notShown
		return x
	}
	if e.Status != engine.StepOK || len(e.Output) == 0 {
		return x
	}
	if a, err := decodeAnswer(e.Output); err == nil {
		x.Status, x.Answer = a.Status, Shown(a.text())
		x.Reply, x.Calls = (&Call{}).display().replied(a)
	}
	return x
}

// speech returns what was said in a call of a model, given the bodies of its request and its answer.
func (c display) speech(sent []byte, a *Answer) (s engine.Speech) {
	instructions, last := llm.ReadPrompt(sent)
	s.Speaker, s.Prompt = speaker(instructions), c.display().said(last)
	if a != nil {
		s.Reply, s.Calls = c.display().replied(a)
	}
	return s
}

// said returns a text of a conversation for display. It is longer than a body.
func (c display) said(text string) string {
	switch {
	case text == "":
		return ""
	case c.Private:
		return notShown
	}
	text = strings.ToValidUTF8(text[:min(len(text), mostScanned)], "")
	return cut(c.display().masked(text), mostMasked, len(text) > mostMasked, len(text))
}

// roleplay matches instructions that name the person to play: "You are Ada, a baker".
var roleplay = regexp.MustCompile(`^\s*(?:You are|You’re|You're|Act as|Play)\s+(\p{Lu}[\p{L}\p{M}'’.-]*(?:\s(?:de|da|van|von|der|la|al|bin|\p{Lu}[\p{L}\p{M}'’.-]*)){0,4}?)\s*(?:[,;:.(\n]|$|\s(?:and|from|who|in)\s)`)

// speaker returns the person that instructions name, or "".
func speaker(instructions string) string {
	if m := roleplay.FindStringSubmatch(instructions[:min(len(instructions), mostName)]); m != nil {
		return strings.TrimRight(m[1], ".")
	}
	return ""
}

// mostName is how many bytes of instructions are searched for a name.
const mostName = 200

// replied returns the text that a model answered and the tools that it asks for; "" if the response is not a completion.
func (c display) replied(a *Answer) (text, calls string) {
	if got := a.read(); got != nil {
		return c.display().said(got.Text + got.Refusal), c.display().said(llm.CallsText(got.Calls))
	}
	if llm.IsStream(a.Header) {
		text = string(a.Body)
	}
	return c.display().said(text), ""
}

// text returns the text of a response with its size. For a stream, it is the completion.
func (a *Answer) text() (text []byte, size int) {
	if llm.IsStream(a.Header) {
		if c := a.read(); c != nil {
			text = []byte(c.Text + c.Refusal)
			return text, len(text)
		}
	}
	return a.Body, len(a.Body)
}

// read reads a completion in any wire format; nil for any other response.
func (a *Answer) read() *llm.Completion {
	for _, api := range APIs {
		read := func() (*llm.Completion, error) { return api.API.Read(a.Body) }
		if llm.IsStream(a.Header) {
			read = func() (*llm.Completion, error) { return llm.ReadStream(api.API.Stream(false), a.Body) }
		}
		if c, err := read(); err == nil {
			return c
		}
	}
	return nil
}

// Shown returns the beginning of a body for display; size is its full size in bytes. Binary data is shown as its size, and values
// whose names look like secrets are removed.
func Shown(text []byte, size int) string {
	var c Call
	return c.display().shown(text, size)
}

// shown is like Shown, without the call's secrets. It shows nothing of a private call.
func (c display) shown(text []byte, size int) string {
	switch {
	case size == 0:
		return ""
	case c.Private:
		return notShown
	}
	text = text[:min(len(text), mostScanned)]
	for range utf8.UTFMax { // a character cut in two does not make the text binary
		if len(text) == size || utf8.Valid(text) || len(text) == 0 {
			break
		}
		text = text[:len(text)-1]
	}
	if isBinary(text) {
		return redact.Binary(size)
	}
	return cut(c.display().masked(string(text)), mostShown, min(len(text), mostMasked) < size, size)
}

// cut returns the beginning of a text, with the full size if the text is longer.
func cut(text string, most int, isPart bool, size int) string {
	if len(text) <= most && !isPart {
		return text
	}
	return fmt.Sprintf("%s %s in all", redact.Shorten(text, most), engine.FormatBytes(int64(size)))
}

// Masked returns the beginning of a text, up to most bytes and at most 8 kB, without values whose names look like secrets.
func Masked(text string, most int) string {
	var c Call
	return cut(c.display().masked(text), most, len(text) > mostMasked, len(text))
}

// isBinary reports whether data is not readable text.
func isBinary(data []byte) bool {
	return !utf8.Valid(data) || bytes.ContainsFunc(data, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
	})
}

// masked returns the beginning of a text without the call's secrets and without values whose names look like secrets.
func (c display) masked(text string) string {
	text = c.display().forDisplay(text)
	if len(text) > mostMasked {
		text = strings.ToValidUTF8(text[:mostMasked], "")
	}
	return redact.Unnamed(text)
}
