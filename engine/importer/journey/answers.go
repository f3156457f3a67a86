package journey

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer/exchange"
)

func itoa(n int) string { return strconv.Itoa(n) }

// origin is the kind of place where an answer has a value, the most reliable first.
type origin int

const (
	fromJSON origin = iota
	fromHeader
	fromField // of an HTML form
	fromMeta  // tag of an HTML page
	fromCookie
	fromText // anywhere in a text, such as an inline script
)

// source is a place where an answer has a value that a later request sends.
type source struct {
	call   int // index of the call with the answer
	origin origin
	path   string // expression after steps.NAME
	wrap   string // function around it, with %s for the path; "" for none
	key    string // name of the value
	parent string // name of the object or list that has it
	number bool
	// Of the only list on the way to the value: the path to it, the index of the item and the path from there.
	list  string
	index int
	rest  string
	lists int // number of lists on the way
	way   jsonPath
}

// sources are the places of the values that are wanted.
type sources struct {
	wanted map[string]bool
	places map[string][]source
}

func (s *sources) add(text string, from source) {
	const most = 64 // places of one value
	if text != "" && s.wanted[text] && len(s.places[text]) < most {
		s.places[text] = append(s.places[text], from)
	}
}

// want lists the values that requests send, and the words in them.
func want(calls []*call) map[string]bool {
	all := make(map[string]bool)
	for _, c := range calls {
		for _, s := range c.slots {
			all[s.text] = true
			for _, t := range tokens(s.text) {
				all[t] = true
			}
			if plain := unescaped(s.text); plain != s.text {
				all[plain] = true
			}
		}
		if c.bearer != nil {
			all[c.bearer.token] = true
		}
	}
	delete(all, "")
	delete(all, "true")
	delete(all, "false")
	return all
}

// answers finds the places of wanted values in the answers of calls.
func answers(calls []*call) *sources {
	s := &sources{wanted: want(calls), places: make(map[string][]source)}
	for _, c := range calls {
		x := c.answer()
		s.headers(c, x)
		switch {
		case x.Response.Body == "":
		case isJSON(&x.Response):
			s.json(c.index, x.Response.Body, nil)
		default:
			s.markup(c.index, &x.Response)
		}
		for e := range c.hops() {
			s.cookies(c.index, e)
		}
	}
	return s
}

// hops yields the exchanges of a call: the request itself, and the last one if redirects were followed.
func (c *call) hops() func(func(*exchange.Exchange) bool) {
	return func(yield func(*exchange.Exchange) bool) {
		if yield(c.Exchange) && c.final != nil {
			yield(c.final)
		}
	}
}

// jsonPath is the way to a value in a JSON text.
type jsonPath []step

// step is a field or an index.
type step struct {
	name  string
	index int
	list  bool
}

// outer is the place of a text that contains JSON.
type outer struct{ from source }

// json walks a JSON text as far as it is one.
func (s *sources) json(call int, text string, inside *outer) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var way jsonPath
	var objects, keys []bool
	next := func() { // after a value: the next one is a key, or has the next index
		if n := len(way) - 1; n >= 0 {
			if objects[n] {
				keys[n] = true
			} else {
				way[n].index++
			}
		}
	}
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		top := len(way) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				way = append(way, step{list: t == '['})
				objects, keys = append(objects, t == '{'), append(keys, t == '{')
				continue
			}
			way, objects, keys = way[:top], objects[:top], keys[:top]
			next()
		case string:
			if top >= 0 && objects[top] && keys[top] {
				way[top].name, keys[top] = t, false
				continue
			}
			s.leaf(call, way, t, false, inside)
			next()
		case json.Number:
			s.leaf(call, way, t.String(), true, inside)
			next()
		default:
			next()
		}
	}
}

const longestInner = 64 << 10 // of a JSON text inside of another, in bytes

func (s *sources) leaf(call int, way jsonPath, text string, number bool, inside *outer) {
	inner := inside == nil && !number && len(text) > 2 && len(text) < longestInner && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
	if !s.wanted[text] && !inner {
		return
	}
	from := way.source(call, inside == nil)
	from.number = number
	switch {
	case inner:
		s.json(call, text, &outer{from})
	case inside != nil:
		deep := from.path
		from.path, from.wrap, from.list, from.lists = inside.from.path, "json.decode(%s)"+percent(deep), "", from.lists+inside.from.lists
		s.add(text, from)
	default:
		s.add(text, from)
	}
}

// source describes the value at the end of a path. At the top, a path begins in the output of the step.
func (p jsonPath) source(call int, top bool) source {
	from := source{call: call}
	var text strings.Builder
	if top && (p[0].list || p[0].name == "status" || p[0].name == "headers" || p[0].name == "body") {
		text.WriteString(".body")
	}
	for _, st := range p {
		if !st.list {
			from.parent, from.key = from.key, st.name
			text.WriteString(field(st.name))
			continue
		}
		from.lists++
		from.list, from.index = text.String(), st.index
		text.WriteString("[" + itoa(st.index) + "]")
	}
	from.path, from.way = text.String(), slices.Clone(p)
	if from.lists == 1 {
		from.rest = from.path[len(from.list)+len(itoa(from.index))+2:]
	} else {
		from.list = ""
	}
	return from
}

// silent are headers of answers that no request depends on.
var silent = strings.Fields("date server content-length content-type cache-control expires vary set-cookie connection age via etag-weak access-control-allow-origin x-powered-by")

func (s *sources) headers(c *call, x *exchange.Exchange) {
	for _, h := range x.Response.Headers {
		name := strings.ToLower(h.Name)
		if contains(silent, name) {
			continue
		}
		from := source{call: c.index, origin: fromHeader, path: ".headers" + field(name), key: name}
		s.add(h.Value, from)
		if name == "location" {
			s.location(c, h.Value, from)
		}
	}
}

// location adds the parts of a Location: the segments of its path and the values of its query.
func (s *sources) location(c *call, text string, from source) {
	u, err := c.url.Parse(text)
	if err != nil {
		return
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || segment == "" || plain != segment || c.had(segments, i) {
			continue
		}
		part := from
		part.key, part.parent = "id", ""
		if i > 0 {
			part.parent = segments[i-1]
		}
		switch {
		case i == len(segments)-1 && u.RawQuery == "" && u.Fragment == "":
			part.wrap = `%s.split("/")[-1]`
		case part.parent != "":
			part.wrap = "extract(%s, " + quote("/"+pattern(part.parent)+"/([^/?#]+)") + ")"
		default:
			continue
		}
		s.add(segment, part)
	}
	for name, values := range u.Query() {
		part := from
		part.key = name
		part.wrap = "extract(%s, " + quote("[?&]"+pattern(name)+"=([^&#]+)") + ")"
		if len(values) == 1 && url.QueryEscape(values[0]) == values[0] {
			s.add(values[0], part)
		}
	}
}

// had reports whether a segment of a Location identifies nothing new: the request had it at the same place, or it names the resource.
func (c *call) had(segments []string, i int) bool {
	if at := i - 1; at >= 0 && at < len(c.segments) && c.segments[at] == segments[i] { // a Location begins with a slash
		return true
	}
	return i > 0 && plain.MatchString(segments[i-1]) && !looksDynamic(segments[i])
}

func contains(list []string, text string) bool {
	return slices.Contains(list, text)
}

// cookies adds the cookies that an answer sets.
func (s *sources) cookies(call int, x *exchange.Exchange) {
	for name, value := range setCookies(&x.Response) {
		from := source{call: call, origin: fromCookie, key: name, wrap: "cookie(" + quote(name) + ")"}
		s.add(value, from)
		if plain := unescaped(value); plain != value {
			s.add(plain, from)
		}
	}
}

// setCookies yields the names and values of the cookies that an answer sets.
func setCookies(m *exchange.Message) func(func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for _, h := range m.Headers {
			if !strings.EqualFold(h.Name, "Set-Cookie") {
				continue
			}
			for line := range strings.SplitSeq(h.Value, "\n") { // Chrome joins them
				pair, _, _ := strings.Cut(line, ";")
				name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
				if ok && !yield(name, strings.Trim(value, `"`)) {
					return
				}
			}
		}
	}
}
