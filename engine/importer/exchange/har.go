package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/charset"
)

// Limits of what is read.
const (
	MaxExchanges = 100_000
	MaxBody      = 4 << 20 // of a body, in bytes; the rest is left out
)

// harText is a text that may be written as a number, or be missing.
type harText string

// UnmarshalJSON implements json.Unmarshaler. It never fails: a recording with one odd value is better than none.
func (t *harText) UnmarshalJSON(data []byte) error {
	if n := len(data); n >= 2 && data[0] == '"' && bytes.IndexByte(data, '\\') < 0 {
		*t = harText(data[1 : n-1])
		return nil
	}
	var s string
	switch err := json.Unmarshal(data, &s); {
	case err == nil:
		*t = harText(s)
	case string(data) != "null" && len(data) > 0 && data[0] != '{' && data[0] != '[':
		*t = harText(data)
	}
	return nil
}

// harEntry has the fields of an entry that matter. See the specification of HAR 1.2; names with an underscore are Chrome's.
type harEntry struct {
	Page     harText     `json:"pageref"`
	Start    harText     `json:"startedDateTime"`
	Time     harText     `json:"time"` // in milliseconds
	Type     harText     `json:"_resourceType"`
	Cache    harText     `json:"_fromCache"`
	Request  harRequest  `json:"request"`
	Response harResponse `json:"response"`
}

type harRequest struct {
	Method  harText    `json:"method"`
	URL     harText    `json:"url"`
	Headers []harField `json:"headers"`
	Cookies []harField `json:"cookies"`
	Post    *harPost   `json:"postData"`
}

type harPost struct {
	Type     harText    `json:"mimeType"`
	Text     harText    `json:"text"`
	Encoding harText    `json:"encoding"`
	Params   []harField `json:"params"`
}

type harResponse struct {
	Status   harText    `json:"status"`
	Headers  []harField `json:"headers"`
	Redirect harText    `json:"redirectURL"`
	Content  harContent `json:"content"`
	Error    harText    `json:"_error"`
}

type harContent struct {
	Type     harText `json:"mimeType"`
	Text     string  `json:"text"`
	Encoding harText `json:"encoding"`
}

type harField struct {
	Name  harText `json:"name"`
	Value harText `json:"value"`
	File  harText `json:"fileName"`
	Type  harText `json:"contentType"`
}

type harPage struct {
	ID    harText `json:"id"`
	Title harText `json:"title"`
}

type harProgram struct {
	Name    harText `json:"name"`
	Version harText `json:"version"`
}

// harReader reads a HAR entry by entry, so that only what is kept is in memory.
type harReader struct {
	d                *json.Decoder
	to               *Recording
	pages            map[string]string
	creator, browser harProgram
	odd              int // entries with values of a wrong type
	nameless         int // entries without a URL
}

// ReadHAR reads a HAR. If the text ends too early or is damaged, it returns the entries up to there, and the recording is partial;
// it fails if there are none.
func ReadHAR(r io.Reader) (*Recording, error) {
	const buffer = 1 << 16
	b := bufio.NewReaderSize(r, buffer)
	if bom, err := b.Peek(3); err == nil && bytes.Equal(bom, []byte("\ufeff")) {
		if _, err := b.Discard(len(bom)); err != nil {
			return nil, err
		}
	}
	h := harReader{d: json.NewDecoder(b), to: &Recording{}, pages: make(map[string]string)}
	found, err := h.object(false)
	n := len(h.to.Exchanges)
	var full *fullError
	switch {
	case errors.As(err, &full):
		h.to.Partial = fmt.Sprintf("The recording has more than %d requests. The others were left out.", MaxExchanges)
	case err != nil && n == 0 && found:
		return nil, fmt.Errorf("the HAR is damaged before its first complete request (%w). Record it again", plainly(err))
	case err != nil && n == 0:
		return nil, fmt.Errorf("this is not a HAR: %w", plainly(err))
	case err != nil:
		h.to.Partial = fmt.Sprintf("The HAR is damaged after request %d (%v). The requests before that were read.", n, plainly(err))
	case !found:
		return nil, errors.New("this is not a HAR: it has no list log.entries. In the network tab of the browser's developer tools, choose \"Save all as HAR\"")
	case n == 0 && h.creator.Name == "Throng":
		return nil, errors.New("no request was recorded. Record again, and send the requests to the address that the recorder shows")
	case n == 0:
		return nil, errors.New("the HAR has no requests. Open the network tab of the developer tools before you visit the page, then save again")
	}
	h.finish()
	return h.to, nil
}

// fullError ends reading after MaxExchanges.
type fullError struct{}

func (*fullError) Error() string { return "too many requests" }

// plainly rewords errors of the JSON decoder.
func plainly(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the text ends too early")
	}
	return err
}

// object reads the outermost object, or that at log. It reports whether it has a list of entries.
func (h *harReader) object(inner bool) (found bool, err error) {
	if ok, err := h.opens('{'); err != nil || !ok {
		return false, err
	}
	for h.d.More() {
		key, err := h.d.Token()
		if err != nil {
			return found, err
		}
		switch key {
		case "log":
			if inner {
				err = h.skip()
			} else {
				var below bool
				below, err = h.object(true)
				found = found || below
			}
		case "entries":
			found = true
			err = h.entries()
		case "pages":
			err = h.readPages()
		case "creator":
			err = lenient(h.d.Decode(&h.creator))
		case "browser":
			err = lenient(h.d.Decode(&h.browser))
		default:
			err = h.skip()
		}
		if err != nil {
			return found, err
		}
	}
	_, err = h.d.Token()
	return found, err
}

// opens reports whether the next value is an object or a list, and enters it; it skips other values.
func (h *harReader) opens(delim json.Delim) (bool, error) {
	token, err := h.d.Token()
	if err != nil {
		return false, err
	}
	if got, ok := token.(json.Delim); !ok || got == delim {
		return ok, nil
	}
	for depth := 1; depth > 0; {
		token, err := h.d.Token()
		if err != nil {
			return false, err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return false, nil
}

func (h *harReader) skip() error {
	var raw json.RawMessage
	return h.d.Decode(&raw)
}

// lenient forgives values of a wrong type: the decoder has read the others.
func lenient(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

func (h *harReader) readPages() error {
	var raw json.RawMessage
	if err := h.d.Decode(&raw); err != nil {
		return err
	}
	var pages []harPage
	if err := lenient(json.Unmarshal(raw, &pages)); err != nil {
		return err
	}
	for _, p := range pages {
		h.pages[string(p.ID)] = string(p.Title)
	}
	return nil
}

func (h *harReader) entries() error {
	if ok, err := h.opens('['); err != nil || !ok {
		return err
	}
	for h.d.More() {
		var e harEntry
		err := h.d.Decode(&e)
		if lenient(err) != nil {
			return err
		}
		switch {
		case err != nil && e.Request.URL != "":
			h.odd++
		case e.Request.URL == "":
			h.nameless++
			continue
		}
		if len(h.to.Exchanges) == MaxExchanges {
			return &fullError{}
		}
		h.to.Exchanges = append(h.to.Exchanges, e.exchange())
	}
	_, err := h.d.Token()
	return err
}

// finish fills in what is known only at the end: the order of writing is not fixed.
func (h *harReader) finish() {
	timed, credentials := 0, false
	for i := range h.to.Exchanges {
		e := &h.to.Exchanges[i]
		if title := h.pages[e.Page]; title != "" {
			e.Page = withoutQuery(title)
		}
		if !e.Start.IsZero() {
			timed++
		}
		credentials = credentials || e.Request.Header("Cookie") != "" || e.Request.Header("Authorization") != "" || e.Response.Header("Set-Cookie") != ""
	}
	if timed == len(h.to.Exchanges) {
		slices.SortStableFunc(h.to.Exchanges, func(a, b Exchange) int { return a.Start.Compare(b.Start) })
	}
	program := cmp.Or(h.browser.Name, h.creator.Name)
	h.to.Sanitized = h.creator.Name == "WebInspector" && !credentials
	switch h.creator.Name { // browsers call themselves by their engines
	case "WebInspector":
		program = "Chrome"
	case "WebKit Web Inspector":
		program = "Safari"
	}
	if h.odd > 0 {
		h.to.Notes = append(h.to.Notes, fmt.Sprintf("%d requests have values of a wrong type in the HAR; what could be read of them was kept.", h.odd))
	}
	if h.nameless > 0 {
		h.to.Notes = append(h.to.Notes, fmt.Sprintf("%d entries of the HAR have no URL and were left out.", h.nameless))
	}
	requests := fmt.Sprintf("%d requests", len(h.to.Exchanges))
	if len(h.to.Exchanges) == 1 {
		requests = "1 request"
	}
	h.to.Source = "a recording of " + requests
	if program != "Throng" {
		h.to.Source = fmt.Sprintf("a recording of %s, %s", cmp.Or(string(program), "an unknown program"), requests)
	}
}

// withoutQuery shortens the title of a page that is a URL, because queries may contain credentials.
func withoutQuery(title string) string {
	if u, err := url.Parse(title); err == nil && u.Host != "" {
		return u.Host + u.Path
	}
	return title
}

func (e *harEntry) exchange() Exchange {
	x := Exchange{
		Page: string(e.Page), Type: strings.ToLower(string(e.Type)), Cached: e.Cache != "" && e.Cache != "false",
		Method: strings.ToUpper(strings.TrimSpace(cmp.Or(string(e.Request.Method), "GET"))), URL: strings.TrimSpace(string(e.Request.URL)),
		Request: Message{Headers: fields(e.Request.Headers)}, Response: Message{Headers: fields(e.Response.Headers)},
	}
	x.Start = parseTime(string(e.Start))
	if ms, err := strconv.ParseFloat(string(e.Time), 64); err == nil && ms > 0 && ms < 1e9 {
		x.Duration = time.Duration(ms * float64(time.Millisecond))
	}
	if status, err := strconv.ParseFloat(string(e.Response.Status), 64); err == nil && status >= 100 && status < 1000 {
		x.Status = int(status)
	} else {
		x.Failure = failure(string(e.Response.Error))
	}
	if x.Request.Header("Cookie") == "" && len(e.Request.Cookies) > 0 {
		var pairs []string
		for _, c := range e.Request.Cookies {
			pairs = append(pairs, string(c.Name)+"="+string(c.Value))
		}
		x.Request.Headers = append(x.Request.Headers, Field{"Cookie", strings.Join(pairs, "; ")})
	}
	if to := string(e.Response.Redirect); to != "" && x.Response.Header("Location") == "" {
		x.Response.Headers = append(x.Response.Headers, Field{"Location", to})
	}
	if p := e.Request.Post; p != nil {
		x.Request.Type = cmp.Or(string(p.Type), x.Request.Header("Content-Type"))
		x.Request.setBody(string(p.Text), string(p.Encoding), true)
		for _, f := range p.Params {
			x.Request.Parts = append(x.Request.Parts, Part{string(f.Name), string(f.Value), string(f.File), string(f.Type)})
		}
	}
	c := &e.Response.Content
	x.Response.Type = cmp.Or(string(c.Type), x.Response.Header("Content-Type"))
	x.Response.setBody(c.Text, string(c.Encoding), textual(x.Response.Type))
	return x
}

// failure writes an error code of Chrome, such as net::ERR_CONNECTION_REFUSED, in words.
func failure(text string) string {
	if code, ok := strings.CutPrefix(text, "net::ERR_"); ok {
		return strings.ToLower(strings.ReplaceAll(code, "_", " "))
	}
	return text
}

func fields(list []harField) []Field {
	all := make([]Field, 0, len(list))
	for _, f := range list {
		if f.Name != "" && f.Name[0] != ':' { // names with a colon are HTTP/2's own
			all = append(all, Field{string(f.Name), string(f.Value)})
		}
	}
	return all
}

// parseTime reads a time. Programs differ in how they write it.
func parseTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// textual reports whether bodies of a content type may be the source of values. Scripts and style sheets are not.
func textual(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	for _, part := range []string{"json", "xml", "html", "urlencoded", "graphql", "text/plain", "event-stream"} {
		if strings.Contains(kind, part) {
			return !strings.HasPrefix(kind, "image/")
		}
	}
	return kind == "" || kind == "application/octet-stream" || kind == "x-unknown"
}

// setBody keeps a body if it is text and wanted.
func (m *Message) setBody(text, encoding string, wanted bool) {
	if text == "" {
		return
	}
	if !wanted {
		m.Binary = true
		return
	}
	if strings.EqualFold(encoding, "base64") {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			m.Binary = true
			return
		}
		text = string(charset.UTF8(data, m.Type))
	}
	if len(text) > MaxBody {
		text, m.Cut = strings.ToValidUTF8(strings.Clone(text[:MaxBody]), ""), true
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		m.Binary = !strings.HasPrefix(m.Type, "multipart/")
		if m.Binary {
			return
		}
	}
	m.Body = text
}
