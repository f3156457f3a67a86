package openapi

import (
	"net/url"
	"slices"
	"strings"
)

// Match is an operation that answers a request.
type Match struct {
	Operation *Operation
	Values    map[string]string // of the parameters in the path, not escaped
}

// Find returns the operation of a method and a path, such as "/baskets/17". A {} in the path stands for any value of a parameter. If no
// operation has the method, allowed lists the methods of the path; it is empty if the document does not have the path. The path may begin
// with the path of one of the servers.
func (d *Document) Find(method, path string) (m *Match, allowed []string) {
	for _, prefix := range append([]string{""}, d.prefixes()...) {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if m, allowed = d.find(method, rest); m != nil || len(allowed) > 0 {
			return m, allowed
		}
	}
	return nil, nil
}

// prefixes are the paths of the servers.
func (d *Document) prefixes() []string {
	var all []string
	for _, s := range d.Servers {
		if u, err := url.Parse(s); err == nil && strings.Trim(u.Path, "/") != "" {
			all = append(all, strings.TrimSuffix(u.Path, "/"))
		}
	}
	return all
}

func (d *Document) find(method, path string) (m *Match, allowed []string) {
	path, _, _ = strings.Cut(path, "?")
	best := -1
	for _, o := range d.Operations {
		values, literal, ok := fits(o.Path, path)
		switch {
		case !ok:
		case o.Method != method:
			if !slices.Contains(allowed, o.Method) {
				allowed = append(allowed, o.Method)
			}
		case literal > best:
			m, best = &Match{o, values}, literal
		}
	}
	return m, allowed
}

// fits matches a path against a template. literal counts the characters that are not of parameters.
func fits(template, path string) (values map[string]string, literal int, ok bool) {
	t, p := strings.Split(template, "/"), strings.Split(path, "/")
	if len(t) != len(p) {
		return nil, 0, false
	}
	for i := range t {
		n, ok := segment(t[i], p[i], func(name, value string) {
			if values == nil {
				values = map[string]string{}
			}
			if v, err := url.PathUnescape(value); err == nil {
				value = v
			}
			values[name] = value
		})
		if !ok {
			return nil, 0, false
		}
		literal += n
	}
	return values, literal, true
}

// segment matches one segment, which may have several parameters: {name}.{extension}
func segment(template, text string, value func(name, value string)) (literal int, ok bool) {
	for {
		before, rest, found := strings.Cut(template, "{")
		if !found {
			return literal + len(template), text == template
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !strings.HasPrefix(text, before) {
			return 0, false
		}
		text = text[len(before):]
		literal += len(before)
		end := len(text)
		if next, _, _ := strings.Cut(after, "{"); next != "" {
			if end = strings.Index(text, next); after == next && next != "" {
				end = strings.LastIndex(text, next)
			}
		}
		if end <= 0 {
			return 0, false
		}
		value(name, text[:end])
		template, text = after, text[end:]
	}
}
