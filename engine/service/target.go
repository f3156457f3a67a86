package service

import (
	"errors"
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Target is what a request asks of a service: a path below the service's address, and a query, both escaped.
type Target struct{ path, query string }

// ParseTarget reads a path with an optional query. A target cannot name a host, nor climb with dots: not above the
// service's address, and not within it either, since whoever wrote the path meant the place that it says.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		if why, ok := errors.AsType[*url.Error](err); ok {
			err = why.Err
		}
		return Target{}, badTarget(text, err.Error())
	case u.Scheme != "" || u.Host != "" || u.User != nil:
		return Target{}, badTarget(text, "names a host; requests go to the service's own")
	case strings.Contains(text, "#"):
		return Target{}, badTarget(text, "has a part behind #, which is never sent")
	}
	t := Target{path: u.EscapedPath(), query: u.RawQuery}
	if !strings.HasPrefix(t.path, "/") {
		t.path = "/" + t.path
	}
	if climbs(u.Path) {
		return Target{}, badTarget(text, "climbs with . or ..")
	}
	if strings.ContainsFunc(t.query, unsafe) {
		q, err := url.ParseQuery(t.query)
		if err != nil {
			return Target{}, badTarget(text, "has a query that cannot be read")
		}
		t.query = q.Encode()
	}
	return t, nil
}

func badTarget(text, why string) error {
	return engine.Fail(engine.Script, "the path %q %s", redact.Shorten(redact.Unmarked(text), 200), why)
}

// climbs reports whether a path, unescaped, has a segment of dots as any server may read it.
func climbs(path string) bool {
	if !strings.Contains(path, ".") {
		return false
	}
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";") // some take what follows for parameters
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// unsafe reports characters that cannot stand in the query of a request line.
func unsafe(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }

// Path is the escaped path, which begins with a slash.
func (t Target) Path() string { return t.path }

// With returns the target with more behind its query: pairs of names and values, escaped.
func (t Target) With(query string) Target {
	if t.query != "" && query != "" {
		query = t.query + "&" + query
	} else if query == "" {
		query = t.query
	}
	return Target{t.path, query}
}
