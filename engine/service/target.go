package service

import (
	"errors"
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Target is a path below the service's address with a query, both escaped.
type Target struct{ path, query string }

// ParseTarget parses a path with an optional query. A target cannot name a host, nor contain dot segments, which would lead to
// another place than the path says.
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
	return targetOf(u, text)
}

// targetOf returns path and query of an address; text describes it in errors.
func targetOf(u *url.URL, text string) (t Target, err error) {
	t = Target{path: u.EscapedPath(), query: u.RawQuery}
	if !strings.HasPrefix(t.path, "/") {
		t.path = "/" + t.path
	}
	if climbs(u.Path) {
		return Target{}, badTarget(text, "climbs with . or ..")
	}
	if strings.ContainsFunc(t.query, invalidInQuery) {
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

// climbs reports whether an unescaped path has a dot segment, as any server may read it.
func climbs(path string) bool {
	if !strings.Contains(path, ".") {
		return false
	}
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";") // some servers read the rest as parameters
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// invalidInQuery reports characters that are not valid in the query of a request line.
func invalidInQuery(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r)
}

// Path returns the escaped path, which begins with a slash.
func (t Target) Path() string { return t.path }

// With returns the target with escaped pairs of names and values added to its query.
func (t Target) With(query string) Target {
	if t.query != "" && query != "" {
		query = t.query + "&" + query
	} else if query == "" {
		query = t.query
	}
	return Target{t.path, query}
}
