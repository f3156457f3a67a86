package doc

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-sim/throng/engine/suggest"
)

// Limits of a file, so that a hostile one cannot exhaust memory or the stack.
const (
	maxBytes = 4 << 20
	maxNodes = 250_000
	maxDepth = 64
)

// Parse reads a document of one map. It returns nil for a syntax error, an empty or an oversized file, and reports that
// error only. It reports and skips the parts of YAML that the language lacks (duplicate keys, anchors, aliases, merge keys,
// tags, further documents).
func Parse(file string, text []byte, r *Report) *Node {
	if len(text) > maxBytes {
		r.AddSource(file, nil)
		r.Add(Problem{File: file, Line: 1, Col: 1, Problem: fmt.Sprintf("the file is larger than %d MB", maxBytes>>20), Guess: suggest.Guess{Hint: "keep rows in a csv or jsonl file next to it"}})
		return nil
	}
	s := r.source(file, text)
	t := &tree{src: s, report: r}
	if at, problem, hint := s.check(); problem != "" {
		t.errorf(at, hint, "%s", problem)
		return nil
	}
	first, second, err := load(s.text)
	if err != nil {
		t.syntax(err)
		return nil
	}
	if first == nil || len(first.Content) == 0 || first.Content[0].ShortTag() == "!!null" && first.Content[0].Value == "" {
		t.errorf(0, "", "the file is empty")
		return nil
	}
	if second != nil {
		t.errorf(s.offset(second.Line, second.Column), "keep one document in a file and remove the line with ---", "a second document starts here")
	}
	root := t.node(first.Content[0], nil, 1)
	if t.count > maxNodes {
		t.errorf(0, "keep rows in a csv or jsonl file next to it", "the file has more than %d values", maxNodes)
		return nil
	}
	return root
}

// load reads the first document and the second one, if any.
func load(text string) (first, second *yaml.Node, err error) {
	defer func() {
		// The parser panics on states that it considers impossible; for the author of the file that is a syntax error.
		if v := recover(); v != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", v)
		}
	}()
	loader, err := yaml.NewLoader(strings.NewReader(text), yaml.WithV4Defaults(), yaml.WithPlugin(limits{}))
	if err != nil {
		return nil, nil, err
	}
	first, err = one(loader)
	if first == nil || err != nil {
		return nil, nil, err
	}
	second, err = one(loader)
	return first, second, err
}

func one(loader *yaml.Loader) (*yaml.Node, error) {
	var n yaml.Node
	err := loader.Load(&n)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return &n, err
}

var errDeep = fmt.Errorf("more than %d nested levels", maxDepth)

// limits stops the parser at maxDepth.
type limits struct{}

var _ yaml.LoaderLimitsPlugin = limits{}

func (limits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return errDeep
	}
	return nil
}

// CheckAlias allows everything, because aliases are reported and never followed.
func (limits) CheckAlias(_, _ int) error { return nil }

// tree converts the nodes of the parser.
type tree struct {
	src    *source
	report *Report
	count  int
}

func (t *tree) errorf(at int, hint, format string, args ...any) {
	line, col := t.src.position(at)
	t.report.Add(Problem{File: t.src.file, Line: line, Col: col, Problem: fmt.Sprintf(format, args...), Guess: suggest.Guess{Hint: hint}})
}

// node makes the node of y, which is the value of key unless that is nil.
func (t *tree) node(y *yaml.Node, key *Node, depth int) *Node {
	t.count++
	n := &Node{src: t.src, report: t.report, key: key, value: y.Value, style: y.Style &^ yaml.TaggedStyle, start: t.src.offset(y.Line, y.Column)}
	n.kind = kindOf(y)
	n.typed = n.style == 0
	t.refuse(n, y)
	if depth > maxDepth {
		t.errorf(n.start, "", "%s", errDeep)
		n.kind, n.broken = Null, true
		return n
	}
	switch n.kind {
	case List:
		t.list(n, y, depth)
	case Map:
		t.entries(n, y, depth)
	case Absent, Null, Scalar:
	}
	return n
}

func kindOf(y *yaml.Node) Kind {
	switch y.Kind {
	case yaml.SequenceNode:
		return List
	case yaml.MappingNode:
		return Map
	case yaml.ScalarNode:
		if y.ShortTag() == "!!null" {
			return Null
		}
		return Scalar
	default: // an alias, which refuse reports
		return Null
	}
}

// refuse reports parts of YAML that the language lacks.
func (t *tree) refuse(n *Node, y *yaml.Node) {
	switch {
	case y.Kind == yaml.AliasNode:
		n.broken = true
		t.errorf(n.start, "write the value out, or quote it: "+quote("*"+y.Value), "aliases (%s) are not part of the language", code("*"+y.Value))
	case y.Anchor != "":
		t.errorf(n.start, "remove it, or quote the value", "anchors (%s) are not part of the language", code("&"+y.Anchor))
	case y.Style&yaml.TaggedStyle != 0 || strings.HasPrefix(t.src.text[n.start:], "!"):
		t.errorf(n.start, "remove it, or quote the value", "tags (%s) are not part of the language", code(y.Tag))
	}
}

func (t *tree) list(n *Node, y *yaml.Node, depth int) {
	skip := 0
	for i, c := range y.Content {
		if skip > 0 {
			skip--
			continue
		}
		item := t.node(c, nil, depth+1)
		item.of, item.index = n, len(n.items)
		if n.style&yaml.FlowStyle != 0 {
			skip = t.mend(item, y.Content[i+1:])
		}
		n.items = append(n.items, item)
	}
}

func (t *tree) entries(n *Node, y *yaml.Node, depth int) {
	first := make(map[string]*Node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := t.key(y.Content[i], depth)
		value := t.node(y.Content[i+1], key, depth+1)
		if key.broken {
			continue
		}
		if n.style&yaml.FlowStyle != 0 {
			if skip := t.mend(value, y.Content[i+2:]); skip > 0 {
				i += skip + skip%2
			} else if t.valueless(key, value) {
				continue
			}
		}
		if earlier := first[key.value]; earlier != nil {
			line, _ := earlier.Position()
			key.Errorf("", "duplicate key %s, first on line %d", code(key.value), line)
			continue
		}
		first[key.value] = key
		n.entries = append(n.entries, Entry{Key: key, Value: value})
	}
}

func (t *tree) key(y *yaml.Node, depth int) *Node {
	key := t.node(y, nil, depth+1)
	switch {
	case y.Kind == yaml.ScalarNode && y.Tag == "!!merge":
		key.broken = true
		key.Errorf("write the keys out", "merge keys (`<<`) are not part of the language")
	case y.Kind == yaml.ScalarNode && key.kind == Null && y.Value == "":
		key.broken = true
		key.Errorf("", "there is no key before the colon")
	case y.Kind == yaml.MappingNode || y.Kind == yaml.SequenceNode:
		key.broken = true
		key.Errorf("quote it if it is a text", "a key must be text, found %s", key.kind)
	case y.Kind == yaml.ScalarNode:
		key.kind = Scalar // null, 1 and true are names here
	}
	return key
}

// valueless reports a key in braces without a colon.
func (t *tree) valueless(key, value *Node) bool {
	if value.kind != Null || value.value != "" || value.start < key.start {
		return false
	}
	between := strings.TrimSpace(t.src.text[key.start:value.start])
	if strings.HasSuffix(between, ":") {
		return false
	}
	if key.typed && unspaced.MatchString(key.value) {
		key.Errorf("write "+code(unspaced.ReplaceAllString(key.value, "$1: $2")), "%s has no space after its colon", code(key.value))
		return true
	}
	key.Errorf("in braces write "+code(key.value+": …")+"; a value with a comma must be quoted", "%s has no value", code(key.value))
	return true
}

// maxCut is the largest number of further values into which commas may have cut one.
const maxCut = 16

// mend reports a plain value in braces or brackets that contains a comma inside a call, as in {when: f(a, b)}, because YAML
// reads it as two values without an error. It restores the text of the value, so that its reader finds no further errors,
// and returns the number of following nodes that were part of it.
func (t *tree) mend(value *Node, behind []*yaml.Node) (parts int) {
	if value.kind != Scalar || !value.typed || closed(value.value) {
		return 0
	}
	for i, y := range behind[:min(len(behind), maxCut)] {
		if y.Kind != yaml.ScalarNode || y.Style != 0 {
			return 0
		}
		start := t.src.offset(y.Line, y.Column)
		end := start + len(y.Value)
		if end > len(t.src.text) || t.src.text[start:end] != y.Value {
			return 0
		}
		if whole := t.src.text[value.start:end]; y.Value != "" && closed(whole) && !strings.ContainsAny(whole, "\r\n") {
			value.Errorf("quote the whole value: "+quote(whole), "the comma cuts the value of %s after %s", value.label(), code(value.value))
			value.value = whole
			return i + 1
		}
	}
	return 0
}

// closed reports whether each parenthesis and double quote of a text is closed.
func closed(text string) bool {
	return strings.Count(text, "(") <= strings.Count(text, ")") && strings.Count(text, `"`)%2 == 0
}
