package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Limits of a document, so that a hostile one cannot exhaust memory or the stack.
const (
	maxBytes = 64 << 20
	maxNodes = 8_000_000
	maxDepth = 200
)

// parse reads JSON or YAML. The node is what could be read before an error; it is nil if that is nothing.
func parse(text []byte, f *file, problem func(line, col int32, text string)) (*node, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	switch {
	case len(text) > maxBytes:
		return nil, fmt.Errorf("it is larger than %d MB", maxBytes>>20)
	case len(trimmed) == 0:
		return nil, errors.New("it is empty")
	case !utf8.Valid(text):
		return nil, errors.New("it is not UTF-8 text")
	case trimmed[0] == '{':
		p := &jsonParser{decoder: json.NewDecoder(bytes.NewReader(text)), text: text, line: 1, file: f, problem: problem}
		p.decoder.UseNumber()
		n, err := p.read(0)
		return n, p.explain(err)
	case trimmed[0] == '<':
		return nil, errors.New("it is a web page or XML, not JSON or YAML")
	}
	return parseYAML(text, f, problem)
}

// jsonParser reads JSON into nodes with positions.
type jsonParser struct {
	decoder *json.Decoder
	text    []byte
	at      int   // where line and start are counted to
	line    int32 // of at
	start   int   // of the line
	nodes   int
	file    *file
	problem func(line, col int32, text string)
}

var errDepth = fmt.Errorf("it is nested deeper than %d levels", maxDepth)

// place returns the position of the next token.
func (p *jsonParser) place() (line, col int32) {
	to := int(p.decoder.InputOffset())
	for to < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[to]) >= 0 {
		to++
	}
	p.advance(to)
	return p.line, int32(to-p.start) + 1 //nolint:gosec // a document has at most 64 MB
}

func (p *jsonParser) advance(to int) {
	for p.at < to {
		i := bytes.IndexByte(p.text[p.at:to], '\n')
		if i < 0 {
			break
		}
		p.at += i + 1
		p.line++
		p.start = p.at
	}
	p.at = to
}

// read reads one value. An object or array that is cut off is returned as far as it was read.
func (p *jsonParser) read(depth int) (*node, error) {
	line, col := p.place()
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	if p.nodes++; p.nodes > maxNodes {
		return nil, fmt.Errorf("it has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, errDepth
	}
	n := &node{line: line, col: col, file: p.file}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			n.kind = array
			return n, p.array(n, depth)
		}
		n.kind = object
		return n, p.object(n, depth)
	case json.Number:
		n.value = number(v)
	default:
		n.value = v
	}
	return n, nil
}

func (p *jsonParser) array(n *node, depth int) error {
	for p.decoder.More() {
		item, err := p.read(depth + 1)
		if item != nil {
			n.items = append(n.items, item)
		}
		if err != nil {
			return err
		}
	}
	_, err := p.decoder.Token()
	return err
}

func (p *jsonParser) object(n *node, depth int) error {
	var seen map[string]bool
	for p.decoder.More() {
		line, col := p.place()
		token, err := p.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		v, err := p.read(depth + 1)
		switch {
		case v == nil:
		case seen == nil && n.has(key) || seen[key]:
			p.problem(line, col, fmt.Sprintf("%q stands twice; the first is used", short(key)))
		default:
			n.members = append(n.members, member{key, v})
			if seen = remember(seen, n.members); seen != nil {
				seen[key] = true
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := p.decoder.Token()
	return err
}

// fewMembers can be searched without a map.
const fewMembers = 16

// remember makes a map of the members once they are many.
func remember(seen map[string]bool, members []member) map[string]bool {
	if seen != nil || len(members) <= fewMembers {
		return seen
	}
	seen = make(map[string]bool, 2*len(members))
	for _, m := range members {
		seen[m.key] = true
	}
	return seen
}

// explain adds the position to an error.
func (p *jsonParser) explain(err error) error {
	if err == nil {
		return nil
	}
	offset, text := int(p.decoder.InputOffset()), err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(syntax.Offset) - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "unexpected end") {
		offset, text = len(p.text), "it ends in the middle"
	}
	for offset >= 0 && offset < len(p.text) && strings.IndexByte(" \t\r\n", p.text[offset]) >= 0 {
		offset++
	}
	if offset < p.at {
		p.at, p.line, p.start = 0, 1, 0
	}
	p.advance(min(max(offset, 0), len(p.text)))
	return &SyntaxError{Line: int(p.line), Col: p.at - p.start + 1, Problem: text}
}

// SyntaxError is a document that cannot be read, or not to its end.
type SyntaxError struct {
	Line, Col int
	Problem   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Problem)
}

// yamlParser reads YAML into nodes.
type yamlParser struct {
	file    *file
	problem func(line, col int32, text string)
	made    map[*yaml.Node]*node // anchored nodes; nil while they are read
	size    map[*node]int        // of anchored nodes, with everything below
	height  map[*node]int        // of anchored nodes
	nodes   int                  // as if each alias was written out
	deepest int                  // so far, as if each alias was written out
}

func parseYAML(text []byte, f *file, problem func(line, col int32, text string)) (n *node, err error) {
	defer func() {
		if v := recover(); v != nil { // the library panics on states that it considers impossible
			n, err = nil, fmt.Errorf("it is not YAML: %v", v)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithV4Defaults(), yaml.WithPlugin(depthLimit{}))
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := loader.Load(&root); err != nil {
		return nil, yamlError(err)
	}
	p := &yamlParser{file: f, problem: problem, made: map[*yaml.Node]*node{}, size: map[*node]int{}, height: map[*node]int{}}
	top := &root
	if top.Kind == yaml.DocumentNode {
		if len(top.Content) == 0 {
			return nil, errors.New("it is empty")
		}
		top = top.Content[0]
	}
	return p.node(top, 0)
}

// depthLimit bounds the depth of YAML and leaves aliases to us.
type depthLimit struct{}

var _ yaml.LoaderLimitsPlugin = depthLimit{}

// CheckDepth implements [yaml.LoaderLimitsPlugin].
func (depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return errDepth
	}
	return nil
}

// CheckAlias implements [yaml.LoaderLimitsPlugin].
func (depthLimit) CheckAlias(int, int) error { return nil }

// yamlError finds the position in an error of the library.
func yamlError(err error) error {
	if of, ok := errors.AsType[*yaml.LoadError](err); ok && of.Mark.Line > 0 {
		return &SyntaxError{of.Mark.Line, of.Mark.Column, of.Message}
	}
	return errors.New(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}

func (p *yamlParser) node(y *yaml.Node, depth int) (*node, error) {
	if y.Kind == yaml.AliasNode {
		n, done := p.made[y.Alias]
		if n == nil {
			if done {
				return nil, &SyntaxError{y.Line, y.Column, "the alias *" + short(y.Value) + " is inside of what it stands for"}
			}
			return nil, &SyntaxError{y.Line, y.Column, "unknown alias *" + short(y.Value)}
		}
		return n, errors.Join(p.count(p.size[n]), p.reach(depth+p.height[n]))
	}
	if err := p.reach(depth); err != nil {
		return nil, err
	}
	before, above := p.nodes, p.deepest
	p.deepest = depth
	if err := p.count(1); err != nil {
		return nil, err
	}
	n := &node{line: int32(y.Line), col: int32(y.Column), file: p.file} //nolint:gosec // a document has at most 64 MB
	if y.Anchor != "" {
		p.made[y] = nil
	}
	var err error
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = object
		err = p.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.kind = array
		for _, item := range y.Content {
			var v *node
			if v, err = p.node(item, depth+1); err != nil {
				break
			}
			n.items = append(n.items, v)
		}
	default:
		n.value = scalarOf(y)
	}
	if y.Anchor != "" {
		p.made[y], p.size[n], p.height[n] = n, p.nodes-before, p.deepest-depth
	}
	p.deepest = max(p.deepest, above)
	return n, err
}

func (p *yamlParser) reach(depth int) error {
	if p.deepest = max(p.deepest, depth); depth > maxDepth {
		return errDepth
	}
	return nil
}

func (p *yamlParser) count(more int) error {
	if p.nodes += more; p.nodes > maxNodes {
		return fmt.Errorf("it has more than %d values", maxNodes)
	}
	return nil
}

func (p *yamlParser) mapping(n *node, y *yaml.Node, depth int) error {
	var seen map[string]bool
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		v, err := p.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		switch {
		case k.ShortTag() == "!!merge":
			merged = append(append(merged, v), v.list()...)
		case k.Kind != yaml.ScalarNode:
			p.problem(int32(k.Line), int32(k.Column), "a key that is not a text") //nolint:gosec // see node
		case seen == nil && n.has(k.Value) || seen[k.Value]:
			p.problem(int32(k.Line), int32(k.Column), fmt.Sprintf("%q stands twice; the first is used", short(k.Value))) //nolint:gosec // see node
		default:
			n.members = append(n.members, member{k.Value, v})
			if seen = remember(seen, n.members); seen != nil {
				seen[k.Value] = true
			}
		}
	}
	for _, m := range merged {
		for key, v := range m.all() {
			if !n.has(key) {
				n.members = append(n.members, member{key, v})
			}
		}
	}
	return p.count(0)
}

// scalarOf reads a scalar as JSON would have it: times stay texts.
func scalarOf(y *yaml.Node) any {
	switch y.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(y.Value, "true")
	case "!!int":
		var i int64
		if y.Decode(&i) == nil {
			return i
		}
	case "!!float":
		var f float64
		if y.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
		return nil
	}
	return y.Value
}

// shortest is how much of a document's text a message repeats.
const shortest = 60

// short shortens a text of the document for a message.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > shortest {
		return strings.ToValidUTF8(s[:shortest], "") + "…"
	}
	return s
}
