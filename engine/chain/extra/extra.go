// Package extra reads extra fields of completion requests.
package extra

import (
	"regexp"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/anthropic"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
)

// Fields are extra fields of a completion request, by name.
type Fields struct {
	names  []string
	values []expr.Value
}

var extraForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// maxExtra limits the extra fields of a request, in bytes.
const maxExtra = 64 << 10

// Read reads a map of extra fields; nil for an absent node.
func Read(in *expr.Compiler, n *doc.Node) *Fields {
	if n == nil {
		return nil
	}
	if n.Kind() != doc.Map {
		n.Errorf("`extra: {top_k: 40}`", "`extra` is a map of request fields")
		return nil
	}
	e := &Fields{}
	for _, entry := range n.Entries() {
		name := entry.Key.Text()
		by, own := openai.OwnFields[name]
		if !own {
			by, own = anthropic.OwnFields[name]
		}
		switch {
		case own && by == "":
			entry.Key.Errorf("leave it out", "Throng sets the field %s itself", name)
		case own:
			entry.Key.Errorf("use the key `"+by+"`", "Throng sets the field %s itself", name)
		case len(name) > 100 || !extraForm.MatchString(name):
			entry.Key.Errorf("letters, digits, _, - and .", "%q cannot be the name of a request field", name)
		}
		e.names, e.values = append(e.names, name), append(e.values, in.Data(entry.Value, "extra."+name))
	}
	return e
}

// Eval evaluates the fields; none for nil.
func (e *Fields) Eval(c expr.Contexts) (all []llm.Extra, err error) {
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
		all = append(all, llm.Extra{Name: e.names[i], Value: text})
	}
	return all, nil
}

// alone is the context for values that may use parameters only.
type alone struct{}

// Context implements Contexts.
func (alone) Context(string) *script.Context { return &script.Context{} }

// Constant reads the extra fields of all completion requests to a service, whose values depend on nothing; none after an error.
// blind means that the functions of the file have errors.
func Constant(in *expr.Compiler, n *doc.Node, blind bool) []llm.Extra {
	e := Read(in, n)
	if e == nil || blind || slices.ContainsFunc(e.values, func(v expr.Value) bool { c, ok := v.(expr.Const); return ok && c.V == nil }) {
		return nil // an error, already reported
	}
	all, err := e.Eval(alone{})
	if err != nil {
		n.Errorf("", "%v", err)
	}
	return all
}

var effortForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// CheckEffort reports an invalid reasoning effort. The accepted words differ between services.
func CheckEffort(text string) error {
	if len(text) > 40 || !effortForm.MatchString(text) {
		return engine.Fail(engine.Script, "reasoning_effort is a word such as low, medium or high, not %q", text)
	}
	return nil
}
