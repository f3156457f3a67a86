package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// refusal is what an error of a service says, however it says it.
type refusal struct {
	params []string // that it names as fields
	text   string   // the whole of it
}

// readRefusal reads an error in one of the usual forms: OpenAI's, that of vLLM, and that of FastAPI, whose detail has a
// place for each mistake.
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
	_ = json.Unmarshal(known.Error, &inner) // a text has none
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
	// unsupported is how services say that they do not know a field, or not for a model.
	unsupported = regexp.MustCompile(`(?i)unsupported|not (currently |yet )?support|n't (currently |yet )?support|unrecogni[sz]ed|not recogni[sz]ed|unknown` +
		`|unexpected|not permitted|not allowed|forbidden|extra (input|field|param)|additional propert|unavailable|not available|not implemented|deprecated` +
		`|no longer|not accept|n't accept|not a valid|invalid (parameter|argument|field|property)|cannot be used|refuse`)
	// valued is how they say that its value is no good, which leaving it out would hide.
	valued = regexp.MustCompile(`(?i)too (large|big|high|low|small|long)|at (most|least)|must be|should be|(greater|less|larger|smaller|lower|higher) than|maximum|minimum|exceed|out of range|context.length`)
	// formats are other names of the form of an answer.
	formats = regexp.MustCompile(`(?i)\b(response_format|response format|json_schema|json_object|json mode|structured outputs?)\b`)
)

// refused is the field of those sent that an answer refuses; "" is none. Errors of a value say so, and are the caller's.
func (r refusal) refused(sent []field) string {
	names := make([]string, 0, len(sent))
	for _, f := range sent {
		if f.name != "model" && f.name != "messages" {
			names = append(names, f.name)
		}
	}
	asksForm := slices.Contains(names, fieldFormat)
	if len(r.params) > 0 {
		param := r.params[0]
		name := param
		if i := strings.IndexAny(param, ".["); i > 0 {
			name = param[:i]
		}
		switch {
		case !slices.Contains(names, name):
		case name == fieldFormat, unsupported.MatchString(r.text), !valued.MatchString(r.text):
			return name
		}
		return "" // it is about something else
	}
	if asksForm && formats.MatchString(r.text) {
		return fieldFormat
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
