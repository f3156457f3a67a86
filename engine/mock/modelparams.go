package mock

import (
	"encoding/json"
	"strconv"
)

// params are the members of a JSON object in a request. Reading an invalid member returns its zero value and stores the first error.
type params struct {
	members map[string]json.RawMessage
	path    string // of this object, "" or ending in a dot
	mistake **apiError
}

// readParams reads the body of a request.
func readParams(body []byte) (params, *apiError) {
	p := params{mistake: new(*apiError)}
	if !json.Valid(body) {
		return p, invalid("", "", "We could not parse the JSON body of your request")
	}
	if err := json.Unmarshal(body, &p.members); err != nil || p.members == nil {
		return p, invalid("", "", "The body must be a JSON object")
	}
	return p, nil
}

func (p params) refuse(no *apiError) {
	if *p.mistake == nil {
		*p.mistake = no
	}
}

// has reports whether a member is present and not null.
func (p params) has(name string) bool {
	raw, ok := p.members[name]
	return ok && string(raw) != "null"
}

// read decodes a member, if it is present.
func (p params) read(name, want string, into any) bool {
	if !p.has(name) {
		return false
	}
	if err := json.Unmarshal(p.members[name], into); err != nil {
		p.refuse(wrongType(p.path+name, want, p.members[name]))
		return false
	}
	return true
}

// wrongType returns the error for a value of the wrong type.
func wrongType(param, want string, raw json.RawMessage) *apiError {
	return invalid(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", param, want, kindOf(raw))
}

// kindOf names the type of a JSON value.
func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func (p params) text(name string) (text string) {
	p.read(name, "a string", &text)
	return text
}

func (p params) flag(name string) (on bool) {
	p.read(name, "a boolean", &on)
	return on
}

// number reads a number from least to most; 0 if absent.
func (p params) number(name string, least, most float64) (n float64) {
	if p.read(name, "a number", &n) && (n < least || n > most) {
		p.refuse(invalid(p.path+name, "invalid_value", "Invalid value for '%s': expected %v to %v, got %v.", p.path+name, least, most, n))
	}
	return n
}

// whole reads a whole number from least to most; 0 if absent.
func (p params) whole(name string, least, most int64) (n int64) {
	if p.read(name, "an integer", &n) && (n < least || n > most) {
		p.refuse(invalid(p.path+name, "invalid_value", "Invalid value for '%s': expected %s, got %d.", p.path+name, span(least, most), n))
	}
	return n
}

// span describes the valid numbers.
func span(least, most int64) string {
	if least == most {
		return strconv.FormatInt(least, 10)
	}
	return strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
}

// object reads the members of an object; none if absent.
func (p params) object(name string) params {
	inner := params{path: p.path + name + ".", mistake: p.mistake}
	p.read(name, "an object", &inner.members)
	return inner
}

// list reads an array.
func (p params) list(name string) (list []json.RawMessage) {
	p.read(name, "an array", &list)
	return list
}

// need rejects a request that lacks one of these members.
func (p params) need(names ...string) {
	for _, name := range names {
		if !p.has(name) {
			p.refuse(invalid(p.path+name, "missing_required_parameter", "Missing required parameter: '%s'.", p.path+name))
		}
	}
}
