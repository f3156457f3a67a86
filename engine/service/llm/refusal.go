package llm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// formFields are the fields that request the form of an answer, in the different wire formats.
var formFields = []string{"response_format", "output_config", "tool_choice", "format"}

// refusal is the error response of a service.
type refusal struct {
	params []string // fields that it names
	text   string   // the whole body
}

// readRefusal parses the common forms of errors: those of OpenAI, vLLM and FastAPI. FastAPI's detail has a location for each error.
func readRefusal(body []byte) refusal {
	const scanned = 64 << 10
	r := refusal{text: string(body[:min(len(body), scanned)])}
	var known struct {
		Error  json.RawMessage `json:"error"`
		Param  string          `json:"param"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &known) != nil {
		return r
	}
	var inner struct {
		Param string `json:"param"`
	}
	_ = json.Unmarshal(known.Error, &inner) // a string has no fields
	for _, p := range []string{inner.Param, known.Param} {
		if p != "" {
			r.params = append(r.params, p)
		}
	}
	var places []struct {
		Loc []any `json:"loc"`
	}
	_ = json.Unmarshal(known.Detail, &places)
	for _, p := range places {
		for _, part := range p.Loc {
			if name, ok := part.(string); ok && name != "body" {
				r.params = append(r.params, name)
				break
			}
		}
	}
	return r
}

var (
	// unsupported matches errors about unknown fields, or fields that a model does not support.
	unsupported = regexp.MustCompile(`(?i)unsupported|not (currently |yet )?support|n't (currently |yet )?support|unrecogni[sz]ed|not recogni[sz]ed|unknown` +
		`|unexpected|not permitted|not allowed|forbidden|extra (input|field|param)|additional propert|unavailable|not available|not implemented|deprecated` +
		`|no longer|not accept|n't accept|not a valid|invalid (parameter|argument|field|property)|cannot be used|refuse`)
	// valued matches errors about a field's value, which leaving out the field would hide.
	valued = regexp.MustCompile(`(?i)too (large|big|high|low|small|long)|at (most|least)|must be|should be|(greater|less|larger|smaller|lower|higher) than|maximum|minimum|exceed|out of range|context.length`)
	// formats matches other names of the response format.
	formats = regexp.MustCompile(`(?i)\b(response_format|response format|output_config|output_format|output format|tool_choice|json_schema|json_object|json mode|structured outputs?)\b`)
)

// Refused returns the field that an error response refuses, or "" if the error is about something else, such as a field's value.
func (r *Request) Refused(response []byte) string {
	names, form := make([]string, 0, len(r.Fields)), ""
	for _, f := range r.Fields {
		if f.Name != "model" && f.Name != "messages" && (f.Name != FieldTools || r.Forced) {
			names = append(names, f.Name)
		}
		if slices.Contains(formFields, f.Name) {
			form = f.Name
		}
	}
	refused := readRefusal(response)
	if part := refused.of(r.Parts, ""); part != "" {
		return part
	}
	return refused.of(names, form)
}

// of returns the refused field among names. form is the one that requests the form of the answer, or "".
func (r refusal) of(names []string, form string) string {
	if len(r.params) > 0 {
		param := r.params[0]
		name := param
		if i := strings.IndexAny(param, ".["); i > 0 {
			name = param[:i]
		}
		switch {
		case !slices.Contains(names, name):
		case name == form, unsupported.MatchString(r.text), !valued.MatchString(r.text):
			return name
		}
		return "" // another error
	}
	if form != "" && formats.MatchString(r.text) {
		return form
	}
	if !unsupported.MatchString(r.text) {
		return ""
	}
	first, at := "", len(r.text)
	for _, name := range names {
		word := regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9_])`)
		if found := word.FindStringIndex(r.text); found != nil && found[0] < at {
			first, at = name, found[0]
		}
	}
	return first
}
