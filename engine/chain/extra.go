package chain

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/openai"
)

// extras are extra fields of a completion request, by name.
type extras struct {
	names  []string
	values []expr.Value
}

var extraForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,99}$`)

// maxExtra limits the extra fields of a request, in bytes.
const maxExtra = 64 << 10

// extras reads a map of extra fields; nil for an absent node.
func (r *reader) extras(n *doc.Node) *extras {
	if n == nil {
		return nil
	}
	if n.Kind() != doc.Map {
		n.Errorf("`extra: {top_k: 40}`", "`extra` is a map of request fields")
		return nil
	}
	e := &extras{}
	for _, entry := range n.Entries() {
		name := entry.Key.Text()
		switch by, own := openai.OwnFields[name]; {
		case own && by == "":
			entry.Key.Errorf("leave it out", "Throng sets the field %s itself", name)
		case own:
			entry.Key.Errorf("use the key `"+by+"`", "Throng sets the field %s itself", name)
		case !extraForm.MatchString(name):
			entry.Key.Errorf("letters, digits, _, - and .", "%q cannot be the name of a request field", name)
		}
		e.names, e.values = append(e.names, name), append(e.values, r.Data(entry.Value, "extra."+name))
	}
	return e
}

// eval evaluates the fields; none for nil.
func (e *extras) eval(c expr.Contexts) (all []openai.Extra, err error) {
	if e == nil {
		return nil, nil
	}
	size := 0
	for i, x := range e.values {
		v, err := x.Eval(c)
		if err != nil {
			return nil, err
		}
		text, err := value.AppendJSON(nil, v)
		if err != nil {
			return nil, engine.Fail(engine.Script, "extra.%s: %w", e.names[i], err)
		}
		if size += len(text); size > maxExtra {
			return nil, engine.Fail(engine.Script, "the fields of extra have more than %d kB", maxExtra>>10)
		}
		all = append(all, openai.Extra{Name: e.names[i], Value: text})
	}
	return all, nil
}

// alone is the context for values that may use parameters only.
type alone struct{}

// Context implements Contexts.
func (alone) Context(string) *script.Context { return &script.Context{} }

// Extra reads the extra fields of all completion requests to a service; values may use parameters.
func (r *Reader) Extra(n *doc.Node) []openai.Extra {
	e := r.in(nil, nil).extras(n)
	if e == nil || r.Blind || slices.ContainsFunc(e.values, func(v expr.Value) bool { c, ok := v.(expr.Const); return ok && c.V == nil }) {
		return nil // an error, already reported
	}
	all, err := e.eval(alone{})
	if err != nil {
		n.Errorf("", "%v", err)
	}
	return all
}

var effortForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// CheckEffort reports an invalid reasoning effort. The accepted words differ between services.
func CheckEffort(text string) error {
	if !effortForm.MatchString(text) {
		return engine.Fail(engine.Script, "reasoning_effort is a word such as low, medium or high, not %q", text)
	}
	return nil
}

// extended adds the service's extra fields to a request; the step's own fields take precedence.
func (s *Service) extended(chat *openai.Chat) {
	if chat.Effort == "" {
		chat.Effort = s.Effort
	}
	own := len(chat.Extra)
	chat.Extra = slices.Clone(chat.Extra)
	for _, e := range s.Extra {
		if !slices.ContainsFunc(chat.Extra[:own], func(o openai.Extra) bool { return o.Name == e.Name }) {
			chat.Extra = append(chat.Extra, e)
		}
	}
}

// asked identifies the service in a request: its models and its extra fields.
func (s *Service) asked() []string {
	all := slices.Clone(s.Models)
	if s.Effort == "" && len(s.Extra) == 0 {
		return all
	}
	text, err := json.Marshal([]any{s.Effort, s.Extra})
	if err != nil {
		panic(err) // strings, and values that are JSON already
	}
	return append(all, string(text))
}
