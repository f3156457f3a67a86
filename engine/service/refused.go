package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// lessons are the fields of a request that the models of a service refuse: each is learned from an error that names it,
// and left out from then on. It is safe for concurrent use.
type lessons struct {
	mu    sync.Mutex
	by    map[string][]string // fields by model
	moves []engine.ChangeRow
}

// of are the fields that a model refuses, for nobody to change.
func (l *lessons) of(model string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[model]
}

// learn notes that a model refuses a field, and why. service is whose model it is.
func (l *lessons) learn(service, model, field, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.by[model], field) {
		return
	}
	was := l.text()
	if l.by == nil {
		l.by = map[string][]string{}
	}
	l.by[model] = append(slices.Clone(l.by[model]), field)
	l.moves = append(l.moves, engine.ChangeRow{
		At: time.Now(), What: service + unsupportedTail, Old: was, New: l.text(), Who: service, Why: "the model " + model + " refuses " + field + why,
	})
}

// taken returns what was learned since it was asked last.
func (l *lessons) taken() []engine.ChangeRow {
	l.mu.Lock()
	defer l.mu.Unlock()
	moves := l.moves
	l.moves = nil
	return moves
}

// unsupportedTail is what the tunable is called, behind the service's name.
const unsupportedTail = ".unsupported"

// text says it as set takes it: models with their fields, such as "gpt-5: temperature, seed; o3: seed". l.mu is held.
func (l *lessons) text() string {
	var all []string
	for model, fields := range l.by {
		all = append(all, model+": "+strings.Join(fields, ", "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// set takes what text says.
func (l *lessons) set(text string) error {
	by := map[string][]string{}
	for one := range strings.SplitSeq(text, ";") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		at := strings.LastIndex(one, ": ")
		if at <= 0 {
			return fmt.Errorf("%q is not a model, a colon and fields", one)
		}
		for name := range strings.SplitSeq(one[at+2:], ",") {
			if name = strings.TrimSpace(name); name != "" {
				by[one[:at]] = append(by[one[:at]], name)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by = by
	return nil
}

// tunable lets a person, and a resume, say what is refused.
func (l *lessons) tunable() tunable {
	return tunable{"unsupported", `request fields that a model refuses and that are left out, such as "gpt-5: temperature, seed"`, func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.text()
	}, l.set}
}

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

// rejects reports whether a status says that the request is not as the service wants it.
func rejects(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotImplemented
}
