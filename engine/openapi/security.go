package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// Scheme is a way to sign in.
type Scheme struct {
	Name   string // in the document
	Type   string // http, apiKey, oauth2, openIdConnect or mutualTLS
	Scheme string // of http: bearer or basic
	In     string // of apiKey: header, query or cookie
	Key    string // of apiKey: the name of the header, parameter or cookie
	Flows  []Flow // of oauth2
	URL    string // of openIdConnect
}

// Flow is a flow of OAuth 2.
type Flow struct {
	Kind     string // password, clientCredentials, authorizationCode or implicit
	TokenURL string // may be relative
}

// Scheme returns the scheme with a name, or nil.
func (d *Document) Scheme(name string) *Scheme {
	i := slices.IndexFunc(d.Schemes, func(s Scheme) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Schemes[i]
}

var flows = []string{"password", "clientCredentials", "authorizationCode", "implicit"}

func (d *Document) schemes() {
	for name, raw := range d.main.root.get("components").get("securitySchemes").all() {
		n, err := d.deref(raw)
		if err == nil && !n.is(object) {
			err = fmt.Errorf("it is %s, not an object", n.what())
		}
		if err != nil {
			d.problem(nil, raw, "the security scheme %q is ignored: %v", short(name), err)
			continue
		}
		s := Scheme{
			Name: name, Type: n.get("type").text(), Scheme: strings.ToLower(n.get("scheme").text()), In: n.get("in").text(), Key: n.get("name").text(),
			URL: n.get("openIdConnectUrl").text(),
		}
		for _, kind := range flows {
			if f := n.get("flows").get(kind); f != nil {
				s.Flows = append(s.Flows, Flow{kind, f.get("tokenUrl").text()})
			}
		}
		switch {
		case !slices.Contains([]string{"http", "apiKey", "oauth2", "openIdConnect", "mutualTLS"}, s.Type):
			d.problem(nil, raw, "the security scheme %q is ignored: its type %q is not known", short(name), short(s.Type))
		case s.Type == "apiKey" && (s.Key == "" || !slices.Contains([]string{"header", "query", "cookie"}, s.In)):
			d.problem(nil, raw, "the security scheme %q is ignored: it does not say where the key is sent", short(name))
		default:
			d.Schemes = append(d.Schemes, s)
		}
	}
}

// requirements reads the alternatives to sign in to an operation.
func (d *Document) requirements(op *Operation, list *node) [][]string {
	if list == nil {
		return nil
	}
	if !list.is(array) {
		d.problem(op, list, "`security` is ignored: it is %s, not a list", list.what())
		return nil
	}
	all := [][]string{}
	for _, alternative := range list.items {
		names := []string{}
		for name := range alternative.all() {
			if d.Scheme(name) == nil {
				d.problem(op, alternative, "there is no security scheme %q", short(name))
			}
			names = append(names, name)
		}
		all = append(all, names)
	}
	return all
}

// Public reports whether an operation can be called without signing in.
func (o *Operation) Public() bool {
	return len(o.Security) == 0 || slices.ContainsFunc(o.Security, func(names []string) bool { return len(names) == 0 })
}
