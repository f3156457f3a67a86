package service

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/redact"
)

const (
	mostShown   = 2 << 10  // bytes of a body that people are shown
	mostVeiled  = 8 << 10  // bytes of any text that they are shown: what is named like a secret takes its time to find
	mostScanned = 64 << 10 // bytes that are looked at for secrets: none may be cut in two where the text ends
	notShown    = "private, not shown"
)

// attempted is an attempt that is over. It belongs to the goroutine that made it.
type attempted struct {
	began   time.Time
	took    time.Duration
	sent    func() (io.ReadCloser, error) // the body of its request; nil is none
	answer  *Answer                       // nil is none
	failure *engine.StepError
	err     error // that ended the call
}

// failed reports whether the attempt went wrong; a 429, which is waited out, did not.
func (a *attempted) failed(c *Call) bool {
	switch {
	case a.answer == nil:
		return a.failure != nil || a.err != nil
	case refuses(a.answer, c):
		return false
	}
	return a.failure != nil || a.err != nil || !c.expects(a.answer.Status)
}

// trace tells of a request by HTTP, if somebody wants to hear of it.
func (t *transport) trace(r *http.Request, call *Call, a attempted) {
	failed := a.failed(call)
	t.answers.count(call, &a)
	call.noted(t.name, &a, failed)
	if !call.Session.Traced(failed) {
		return
	}
	e := call.exchange(&a)
	path, query, _ := strings.Cut(r.URL.RequestURI(), "?")
	if query != "" && !call.Private {
		path += "?" + query
	}
	e.Service, e.Request = t.name, redact.Shorten(r.Method+" "+call.veiled(path), mostShown)
	if call.bill != nil {
		e.Request = call.bill.model
	}
	e.Headers = call.headers(r)
	if a.sent != nil {
		if body, err := a.sent(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, mostScanned)) // from memory
			e.Sent = call.shown(text, int(r.ContentLength))
		}
	}
	call.Session.Trace(e, failed)
}

// trace tells of a statement, if somebody wants to hear of it.
func (p *Postgres) trace(s *database.Statement, call *Call, a attempted) {
	failed := a.failed(call)
	p.answers.count(call, &a)
	call.noted(p.name, &a, failed)
	if !call.Session.Traced(failed) {
		return
	}
	e := call.exchange(&a)
	e.Service, e.Request, e.Status = p.name, call.shown([]byte(s.Query.Text), len(s.Query.Text)), 0
	if call.Private {
		e.Request = redact.Shorten(s.Query.Text, mostShown) // its data are the args
	}
	if len(s.Args) > 0 {
		args := s.Listed(mostScanned)
		e.Sent = call.shown(args, len(args))
	}
	call.Session.Trace(e, failed)
}

// exchange is what people may see of an attempt beside its request.
func (c *Call) exchange(a *attempted) engine.Exchange {
	e := engine.Exchange{At: a.began, Path: c.Path, Attempt: c.Record.Attempts + 1, Took: a.took}
	switch {
	case a.failure != nil && (a.answer == nil || a.failure.Class == engine.BadAnswer):
		e.Error = c.said(a.failure.Error())
	case a.answer == nil && a.err != nil:
		e.Error = c.said(a.err.Error())
	}
	if a.answer != nil {
		e.Status, e.Answer = a.answer.Status, c.shown(a.answer.text())
	}
	return e
}

// Kept is what people may see of a result that the journal holds: not its request, of which nothing is kept. The secrets of
// its service were taken out of it before it was kept.
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
	}
	return x
}

// text is what an answer says, with its size: of one in pieces, what they amount to.
func (a *Answer) text() (text []byte, size int) {
	if openai.IsStream(a.Header) {
		if c, err := openai.ReadStream(a.Body, false); err == nil {
			text = []byte(c.Text + c.Refusal)
			return text, len(text)
		}
	}
	return a.Body, len(a.Body)
}

// Shown is the beginning of a body for people: size is how many bytes it has in all. What is no text shows as its size,
// and values whose names say that they are secrets are left out.
func Shown(text []byte, size int) string {
	var c Call
	return c.shown(text, size)
}

// shown is the same without the call's secrets; of a private call nothing is.
func (c *Call) shown(text []byte, size int) string {
	switch {
	case size == 0:
		return ""
	case c.Private:
		return notShown
	}
	text = text[:min(len(text), mostScanned)]
	for range utf8.UTFMax { // a character that was cut in two is no sign of anything
		if len(text) == size || utf8.Valid(text) || len(text) == 0 {
			break
		}
		text = text[:len(text)-1]
	}
	if isBinary(text) {
		return redact.Binary(size)
	}
	return cut(c.veiled(string(text)), mostShown, min(len(text), mostVeiled) < size, size)
}

// cut is the beginning of a text for people, with the size of what it comes from where that is more.
func cut(text string, most int, isPart bool, size int) string {
	if len(text) <= most && !isPart {
		return text
	}
	return fmt.Sprintf("%s %s in all", redact.Shorten(text, most), engine.FormatBytes(int64(size)))
}

// Veiled is the beginning of a text without what is named like a secret in it: most, 8 kB at most, is how many bytes of it
// are shown.
func Veiled(text string, most int) string {
	var c Call
	return cut(c.veiled(text), most, len(text) > mostVeiled, len(text))
}

// isBinary reports whether data are no text that people can read.
func isBinary(data []byte) bool {
	return !utf8.Valid(data) || strings.ContainsFunc(string(data), func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
	})
}

// veiled is the beginning of a text, as much as is shown of any, without the call's secrets and without what is named like
// one.
func (c *Call) veiled(text string) string {
	text = c.said(text)
	if len(text) > mostVeiled {
		text = strings.ToValidUTF8(text[:mostVeiled], "")
	}
	return redact.Unnamed(text)
}
