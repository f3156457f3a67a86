package fromopenapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// naming finds the first operation that creates something under a name of the client's choice, such as PUT /items/{item_id}, and makes up
// the name. It returns nil if there is none.
func (b binder) naming(waiting []*operation) []*operation {
	for _, o := range waiting {
		n := b.choice(o)
		if n == nil {
			continue
		}
		made, length := importer.Value{Expr: `"` + n.resource + `-" + session.uuid[:13]`}, len(n.resource)+len("-")+13
		if n.schema.Format() == "uuid" {
			made, length = importer.Value{Expr: "session.uuid"}, 36
		}
		if _, most := n.schema.Length(); most >= 0 && most < length {
			continue
		}
		o.values[n.name] = made
		n.from = &source{of: o, field: n.name, owner: n.resource, kind: n.schema.Type(), sent: true, made: true}
		if b.satisfied(o) {
			o.role = create
			return []*operation{o}
		}
		n.from = nil
	}
	return nil
}

// choice returns the identifier that a client chooses for what an operation creates; nil if it creates nothing, or under a name that the
// backend chooses.
func (b binder) choice(o *operation) *need {
	if o.Method != http.MethodPut || !endsInParameter(o.Path) || o.body == nil || o.role != update {
		return nil
	}
	above := collection(o.Path)
	creates, misses := false, false
	for _, r := range o.Responses {
		creates = creates || r.Status == "201"
		misses = misses || r.Status == "404"
	}
	if misses && !creates || slices.ContainsFunc(b.ops, func(other *operation) bool {
		return other.Method == http.MethodPost && strings.TrimSuffix(other.Path, "/") == above
	}) {
		return nil
	}
	last := o.Path[strings.LastIndexByte(o.Path, '/')+1:]
	i := slices.IndexFunc(o.needs, func(n *need) bool { return n.in == "path" && "{"+n.name+"}" == strings.TrimSuffix(last, "/") })
	if i < 0 {
		return nil
	}
	n := o.needs[i]
	identifies := refersTo(n.name) == n.resource || slices.Contains([]string{"id", "uuid", "guid"}, plain(n.name)) || creates && slices.Contains(identifiers, plain(n.name))
	if n.from != nil || !free(n.schema) || !identifies {
		return nil
	}
	return n
}

// free reports whether a schema allows any text, or any UUID.
func free(s *openapi.Schema) bool {
	return s.Type() == "string" && s.Pattern() == "" && len(s.Enum()) == 0 && (s.Format() == "" || s.Format() == "uuid")
}

// chosen reports whether the client chooses the value, because the operation creates something under it.
func (n *need) chosen() bool { return n.from != nil && n.from.made && n.from.of == n.of }

// named returns the identifier that an operation creates something under; nil if the backend chooses it.
func (o *operation) named() *need {
	i := slices.IndexFunc(o.needs, (*need).chosen)
	if i < 0 {
		return nil
	}
	return o.needs[i]
}
