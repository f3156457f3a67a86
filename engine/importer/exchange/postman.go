package exchange

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// postmanText is a text that may be a number, a bool, null or a list of lines.
type postmanText string

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (t *postmanText) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) == nil && lines != nil {
		*t = postmanText(strings.Join(lines, "\n"))
		return nil
	}
	return (*harText)(t).UnmarshalJSON(data)
}

// list is a list that may be missing or be something else, such as a text.
type list[T any] []T

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	var all []T
	if lenient(json.Unmarshal(data, &all)) == nil {
		*l = all
	}
	return nil
}

// postmanItem is the collection, a folder or a request. See the JSON Schema of collections, version 2.1.
type postmanItem struct {
	Name  postmanText         `json:"name"`
	Items *list[postmanItem]  `json:"item"`
	Auth  *postmanAuth        `json:"auth"`
	Vars  list[postmanPair]   `json:"variable"`
	Event list[postmanEvent]  `json:"event"`
	Sent  *postmanRequest     `json:"request"`
	Saved list[postmanAnswer] `json:"response"`
	Info  struct {
		Name   postmanText `json:"name"`
		Schema postmanText `json:"schema"`
	} `json:"info"`
}

type postmanPair struct {
	Key      postmanText `json:"key"`
	ID       postmanText `json:"id"`
	Value    postmanText `json:"value"`
	Type     postmanText `json:"type"`
	Src      postmanText `json:"src"`
	Content  postmanText `json:"contentType"`
	Disabled bool        `json:"disabled"`
}

type postmanEvent struct {
	Listen postmanText `json:"listen"`
	Script struct {
		Lines postmanText `json:"exec"`
	} `json:"script"`
}

type postmanAnswer struct {
	Code    postmanText       `json:"code"`
	Headers list[postmanPair] `json:"header"`
	Body    postmanText       `json:"body"`
}

type postmanRequest struct {
	Method  postmanText       `json:"method"`
	URL     postmanURL        `json:"url"`
	Headers list[postmanPair] `json:"header"`
	Auth    *postmanAuth      `json:"auth"`
	Body    *postmanBody      `json:"body"`
}

// UnmarshalJSON implements json.Unmarshaler: a request may be its URL only.
func (r *postmanRequest) UnmarshalJSON(data []byte) error {
	type plain postmanRequest
	if len(data) > 0 && data[0] == '"' {
		return r.URL.UnmarshalJSON(data)
	}
	return lenient(json.Unmarshal(data, (*plain)(r)))
}

// postmanURL is a URL as text, with the values of its path variables (:id).
type postmanURL struct {
	raw  string
	vars list[postmanPair]
}

// UnmarshalJSON implements json.Unmarshaler: a URL may be a text or an object.
func (u *postmanURL) UnmarshalJSON(data []byte) error {
	var parts struct {
		Raw   postmanText       `json:"raw"`
		Host  json.RawMessage   `json:"host"`
		Path  json.RawMessage   `json:"path"`
		Proto postmanText       `json:"protocol"`
		Port  postmanText       `json:"port"`
		Query list[postmanPair] `json:"query"`
		Vars  list[postmanPair] `json:"variable"`
	}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &u.raw)
	}
	if string(data) == "null" {
		return nil
	}
	if err := lenient(json.Unmarshal(data, &parts)); err != nil {
		return err
	}
	u.vars = parts.Vars
	raw, _, _ := strings.Cut(string(parts.Raw), "#")
	raw, search, _ := strings.Cut(raw, "?")
	if raw == "" {
		raw = joined(parts.Host, ".")
		if parts.Proto != "" {
			raw = string(parts.Proto) + "://" + raw
		}
		if parts.Port != "" {
			raw += ":" + string(parts.Port)
		}
		raw += "/" + joined(parts.Path, "/")
	}
	if parts.Query != nil {
		var pairs []string
		for _, q := range parts.Query {
			if !q.Disabled {
				pairs = append(pairs, string(q.Key)+"="+string(q.Value))
			}
		}
		search = strings.Join(pairs, "&")
	}
	if u.raw = raw; search != "" {
		u.raw += "?" + search
	}
	return nil
}

// joined joins a list of texts or of objects with a value; a text stays as it is.
func joined(data json.RawMessage, separator string) string {
	var all []json.RawMessage
	var text postmanText
	if json.Unmarshal(data, &all) != nil {
		if len(data) > 0 && text.UnmarshalJSON(data) == nil {
			return string(text)
		}
		return ""
	}
	var parts []string
	for _, one := range all {
		var p postmanPair
		var t postmanText
		if json.Unmarshal(one, &p) == nil {
			t = p.Value
		} else if t.UnmarshalJSON(one) != nil {
			continue
		}
		parts = append(parts, string(t))
	}
	return strings.Join(parts, separator)
}

type postmanBody struct {
	Mode    postmanText       `json:"mode"`
	Raw     postmanText       `json:"raw"`
	Encoded list[postmanPair] `json:"urlencoded"`
	Form    list[postmanPair] `json:"formdata"`
	GraphQL struct {
		Query     postmanText `json:"query"`
		Variables postmanText `json:"variables"`
	} `json:"graphql"`
	Options struct {
		Raw struct {
			Language postmanText `json:"language"`
		} `json:"raw"`
	} `json:"options"`
	Disabled bool `json:"disabled"`
}

// postmanAuth is a kind of authentication with its settings.
type postmanAuth struct {
	kind string
	with map[string]string
}

// UnmarshalJSON implements json.Unmarshaler. Settings are a list of pairs, or in version 2.0 an object.
func (a *postmanAuth) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	var kind postmanText
	if raw := all["type"]; raw != nil {
		_ = kind.UnmarshalJSON(raw) // it never fails
	}
	a.kind, a.with = string(kind), make(map[string]string)
	var pairs []postmanPair
	var object map[string]postmanText
	if raw := all[a.kind]; json.Unmarshal(raw, &object) == nil {
		for name, value := range object {
			a.with[name] = string(value)
		}
	} else if lenient(json.Unmarshal(raw, &pairs)) == nil {
		for _, p := range pairs {
			a.with[string(p.Key)] = string(p.Value)
		}
	}
	return nil
}

// postman reads a collection.
type postman struct {
	to   *Recording
	vars map[string]string
}

// ReadPostman reads a collection, version 2.1 or 2.0. Folders become pages, saved examples answers; variables with a value are
// filled in, and the others stay as {{name}}. Scripts are not imported, but what they take from answers is in Sets.
func ReadPostman(data []byte) (*Recording, error) {
	var root postmanItem
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := lenient(json.Unmarshal(data, &root)); err != nil {
		return nil, fmt.Errorf("the Postman collection is not valid JSON (%w). Export it again as Collection v2.1", plainly(err))
	}
	if root.Items == nil {
		return nil, errors.New("this is not a Postman collection: it has no list of items. Export it as Collection v2.1")
	}
	p := postman{to: &Recording{Templates: true}, vars: make(map[string]string)}
	p.walk(&root, nil, "", 0)
	if len(p.to.Exchanges) == 0 {
		return nil, errors.New("the Postman collection has no requests")
	}
	p.to.Title = string(root.Info.Name)
	p.to.Source = fmt.Sprintf("Postman collection %s, %d requests", cmp.Or(string(root.Info.Name), "without a name"), len(p.to.Exchanges))
	return p.to, nil
}

// walk reads an item. The authentication of a folder holds for what is in it, unless that has its own.
func (p *postman) walk(item *postmanItem, auth *postmanAuth, folder string, depth int) {
	const deepest = 100
	if item.Auth != nil {
		auth = item.Auth
	}
	for _, v := range item.Vars {
		if name := string(cmp.Or(v.Key, v.ID)); !v.Disabled && name != "" && v.Value != "" {
			p.vars[name] = string(v.Value)
		}
	}
	if item.Sent != nil && len(p.to.Exchanges) < MaxExchanges {
		p.request(item, auth, folder)
	}
	p.scripts(item)
	if item.Items == nil || depth > deepest {
		return
	}
	for i := range *item.Items {
		below := folder
		if one := &(*item.Items)[i]; one.Items != nil {
			below = string(one.Name)
		}
		p.walk(&(*item.Items)[i], auth, below, depth+1)
	}
}

var (
	setsVariable = regexp.MustCompile(`\.set(?:EnvironmentVariable|GlobalVariable)?\(\s*["']([^"']+)["']\s*,\s*([\w.$\[\]()"']+?)\s*\)\s*;?\s*(?:\n|$)`)
	answerOf     = regexp.MustCompile(`(?m)(?:var|let|const)?\s*(\w+)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))\s*;?\s*$`)
)

// scripts lists the scripts of an item, and finds the variables that they take from an answer.
func (p *postman) scripts(item *postmanItem) {
	for _, e := range item.Event {
		text := string(e.Script.Lines)
		if strings.TrimSpace(text) == "" {
			continue
		}
		of := cmp.Or(string(item.Name), "the collection")
		p.to.note("The %s script of %s was not imported.", cmp.Or(map[string]string{"prerequest": "pre-request", "test": "test"}[string(e.Listen)], "request"), of)
		if item.Sent == nil || e.Listen != "test" {
			continue
		}
		names := []string{"pm.response.json()", "JSON.parse(responseBody)"}
		for _, m := range answerOf.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		for _, m := range setsVariable.FindAllStringSubmatch(text, -1) {
			for _, name := range names {
				if path, ok := strings.CutPrefix(m[2], name); ok && (path == "" || path[0] == '.' || path[0] == '[') && !strings.Contains(path, "(") {
					p.to.Sets = append(p.to.Sets, Set{Variable: m[1], Exchange: len(p.to.Exchanges) - 1, Path: path})
				}
			}
		}
	}
}

var variable = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// fill replaces variables that have a value, which may contain other variables.
func (p *postman) fill(text string) string {
	const deepest = 5
	size := len(text)
	for range deepest {
		next := variable.ReplaceAllStringFunc(text, func(m string) string {
			if value, ok := p.vars[strings.TrimSpace(m[2:len(m)-2])]; ok && size < MaxBody {
				size += len(value)
				return value
			}
			return m
		})
		if next == text {
			break
		}
		text = next
	}
	return text
}

func (p *postman) request(item *postmanItem, auth *postmanAuth, folder string) {
	r := item.Sent
	if r.Auth != nil {
		auth = r.Auth
	}
	address := r.URL.raw
	for _, v := range r.URL.vars {
		if value := string(v.Value); value != "" {
			address = pathVariable(address, string(cmp.Or(v.Key, v.ID)), p.fill(value))
		}
	}
	address = strings.TrimSpace(p.fill(address))
	if address == "" {
		p.to.note("The request %s has no URL and was left out.", shorten(string(item.Name)))
		return
	}
	if !strings.Contains(address, "://") && !strings.HasPrefix(address, "{{") {
		address = "http://" + address
	}
	e := Exchange{Page: folder, Title: string(item.Name), URL: address, Method: strings.ToUpper(cmp.Or(string(r.Method), "GET"))}
	for _, h := range r.Headers {
		if !h.Disabled && h.Key != "" {
			e.Request.Headers = append(e.Request.Headers, Field{string(h.Key), p.fill(string(h.Value))})
		}
	}
	e.Request.Type = e.Request.Header("Content-Type")
	p.body(&e, r.Body)
	p.auth(&e, auth, string(item.Name))
	p.answer(&e, item.Saved)
	p.to.Exchanges = append(p.to.Exchanges, e)
}

// pathVariable fills in a segment such as :id.
func pathVariable(address, name, value string) string {
	path, search, has := strings.Cut(address, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if name != "" && s == ":"+name {
			segments[i] = url.PathEscape(value)
			if variable.MatchString(value) {
				segments[i] = value
			}
		}
	}
	path = strings.Join(segments, "/")
	if has {
		path += "?" + search
	}
	return path
}

// languages are the content types of raw bodies.
var languages = map[string]string{"json": "application/json", "xml": "application/xml", "html": "text/html", "javascript": "application/javascript", "text": "text/plain"}

func (p *postman) body(e *Exchange, b *postmanBody) {
	if b == nil || b.Disabled {
		return
	}
	m := &e.Request
	form := func(pairs []postmanPair) {
		for _, f := range pairs {
			if f.Disabled {
				continue
			}
			part := Part{Name: p.fill(string(f.Key)), Value: p.fill(string(f.Value)), Type: string(f.Content)}
			if f.Type == "file" {
				part.Value, part.File = "", baseName(string(f.Src))
			}
			m.Parts = append(m.Parts, part)
		}
	}
	switch b.Mode {
	case "raw":
		m.Body = p.fill(string(b.Raw))
		kind := languages[string(b.Options.Raw.Language)]
		if kind == "" && json.Valid([]byte(m.Body)) {
			kind = "application/json"
		}
		m.Type = cmp.Or(m.Type, kind, "text/plain")
	case "urlencoded":
		m.Type = "application/x-www-form-urlencoded"
		form(b.Encoded)
	case "formdata":
		m.Type = "multipart/form-data"
		form(b.Form)
	case "graphql":
		m.Type = "application/json"
		query := map[string]any{"query": p.fill(string(b.GraphQL.Query))}
		var variables any
		if text := p.fill(string(b.GraphQL.Variables)); json.Unmarshal([]byte(text), &variables) == nil {
			query["variables"] = variables
		}
		if text, err := json.Marshal(query); err == nil {
			m.Body = string(text)
		}
	case "file":
		p.to.note("The body of %s is a file, which was not read: put its text into the step.", shorten(e.Title))
	}
}

func baseName(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	return cmp.Or(file[strings.LastIndexByte(file, '/')+1:], "file")
}

// auth adds what an authentication sends.
func (p *postman) auth(e *Exchange, a *postmanAuth, name string) {
	if a == nil || a.kind == "" || a.kind == "noauth" || e.Request.Header("Authorization") != "" {
		return
	}
	with := func(key string) string { return p.fill(a.with[key]) }
	set := func(name, value string) { e.Request.Headers = append(e.Request.Headers, Field{name, value}) }
	switch a.kind {
	case "bearer":
		set("Authorization", "Bearer "+with("token"))
	case "basic":
		set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(with("username")+":"+with("password"))))
	case "apikey":
		if with("in") == "query" {
			e.URL += map[bool]string{true: "&", false: "?"}[strings.Contains(e.URL, "?")] + with("key") + "=" + with("value")
			return
		}
		set(cmp.Or(with("key"), "X-Api-Key"), with("value"))
	case "oauth2":
		set("Authorization", cmp.Or(with("headerPrefix"), "Bearer")+" "+cmp.Or(with("accessToken"), "{{access_token}}"))
	default:
		p.to.note("The authentication of %s (%s) was not imported.", shorten(name), shorten(a.kind))
	}
}

// answer takes the first saved example of a good answer.
func (p *postman) answer(e *Exchange, saved []postmanAnswer) {
	for _, s := range saved {
		if len(s.Code) != 3 || s.Code[0] != '2' {
			continue
		}
		e.Status = int(s.Code[0]-'0')*100 + int(s.Code[1]-'0')*10 + int(s.Code[2]-'0')
		for _, h := range s.Headers {
			e.Response.Headers = append(e.Response.Headers, Field{string(h.Key), string(h.Value)})
		}
		e.Response.Type = e.Response.Header("Content-Type")
		if e.Response.setBody(string(s.Body), "", true); e.Response.Type == "" && json.Valid([]byte(e.Response.Body)) {
			e.Response.Type = "application/json"
		}
		return
	}
}
