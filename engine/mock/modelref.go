package mock

import (
	"encoding/json"
	"strings"
)

// ref reads what a pointer within the schema points at, once.
func (r *schemaReader) ref(n node) *form {
	var pointer string
	if !r.into(n, "$ref", "a string", &pointer) {
		return r.form(formNothing)
	}
	s := r.byRef[pointer]
	if s != nil {
		return s
	}
	target, ok := lookUp(r.whole, pointer)
	if !ok {
		return r.problem(n.at, "'$ref' %q points at nothing in the schema; want one such as #/$defs/NAME", pointer)
	}
	s = r.form(formChoice)
	r.byRef[pointer] = s // it may point at itself
	s.choices = []*form{r.read(target, pointer, n.depth+1)}
	return s
}

// lookUp follows a JSON pointer in a fragment (RFC 6901).
func lookUp(raw json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "#" {
		return raw, true
	}
	path, ok := strings.CutPrefix(pointer, "#/")
	if !ok || strings.ContainsRune(path, '%') {
		return nil, false
	}
	for step := range strings.SplitSeq(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) == nil {
			raw, ok = members[step]
		} else {
			raw, ok = element(raw, step)
		}
		if !ok {
			return nil, false
		}
	}
	return raw, true
}

// element is one of a list, by its number.
func element(raw json.RawMessage, step string) (json.RawMessage, bool) {
	var list []json.RawMessage
	i, err := parseCount(step)
	if err != nil || json.Unmarshal(raw, &list) != nil || i >= len(list) {
		return nil, false
	}
	return list[i], true
}
