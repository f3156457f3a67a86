package importer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Merged is what became of a file that was imported before. Its lists are names of steps, except Open.
type Merged struct {
	Text    []byte   `json:"-"`
	Open    []string `json:"open,omitempty"`    // what a person must decide, in the steps that were written now
	Added   []string `json:"added,omitempty"`   // steps that the file did not have
	Updated []string `json:"updated,omitempty"` // steps that the source has changed, and no person
	Kept    []string `json:"kept,omitempty"`    // steps that a person has edited, and that the source has changed since: they stay as they are
	Gone    []string `json:"gone,omitempty"`    // steps of the file that are no longer in the source
}

// marker begins the comment that says which operation of the source a step was made from.
const marker = "# imported: "

// Merge writes the journey of a draft into a scenario that an earlier import made. Steps that a person has edited, and everything
// else in the file, stay as they are. A file that no import made is an error, and so is one that is not YAML.
func (d *Draft) Merge(old []byte) (*Merged, error) {
	was, err := stepsOf(old)
	if err != nil {
		return nil, err
	}
	fresh := d.Write()
	now, err := stepsOf(fresh.Text)
	if err != nil {
		return nil, fmt.Errorf("what was imported is not YAML: %w", err)
	}
	m := &Merged{}
	known := map[string]int{}
	for i, s := range was {
		known[s.id] = i
	}
	// after holds the new steps by the index of the step of the old file that they follow; -1 is the start of the chain.
	after := map[int][]block{}
	at := -1
	for _, s := range now {
		i, ok := known[s.id]
		if !ok {
			after[at] = append(after[at], s)
			m.Added = append(m.Added, s.name)
			continue
		}
		at = i
		switch {
		case s.sum == was[i].sum:
		case sum(was[i].text) == was[i].sum:
			s.replace(&was[i])
			m.Updated = append(m.Updated, s.name)
		default:
			m.Kept = append(m.Kept, was[i].name)
		}
	}
	for _, s := range was {
		if s.id != "" && !slices.ContainsFunc(now, func(n block) bool { return n.id == s.id }) {
			m.Gone = append(m.Gone, s.name)
		}
	}
	for _, o := range fresh.Open {
		name, _, _ := strings.Cut(strings.TrimPrefix(o, "step "), ":")
		if slices.Contains(m.Added, name) || slices.Contains(m.Updated, name) {
			m.Open = append(m.Open, o)
		}
	}
	m.Text = splice(old, was, after)
	return m, nil
}

// block is a step of a file.
type block struct {
	id, sum    string // of its marker; "" if no import made it
	name       string
	start, end int    // its lines, with its comments and without them from body on; from 0, end not included
	body       int    // first line after the comments
	head, text string // its comments with what else stands before it, and its lines
}

// replace makes a step of another file look as s does. Its comments stay, except for the marker.
func (s block) replace(old *block) {
	var head strings.Builder
	for line := range strings.Lines(old.head) {
		if !strings.HasPrefix(strings.TrimSpace(line), marker) {
			head.WriteString(line)
			continue
		}
		for mine := range strings.Lines(s.head) {
			if strings.HasPrefix(strings.TrimSpace(mine), marker) {
				head.WriteString(mine)
			}
		}
	}
	old.head, old.text = head.String(), s.text
}

// errNoImport says that a file has no chain to merge into.
var errNoImport = fmt.Errorf("it has no chain that an import made: write the scenario to another file")

// stepsOf returns the steps of the first chain of a file that has imported steps.
func stepsOf(text []byte) ([]block, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errNoImport
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if !strings.HasPrefix(top[i].Value, "chain") || top[i+1].Kind != yaml.MappingNode || top[i+1].Style&yaml.FlowStyle != 0 {
			continue
		}
		end := len(lines)
		if i+2 < len(top) {
			end = headOf(lines, top[i+2].Line-1)
		}
		if steps := chainSteps(lines, top[i+1].Content, end); slices.ContainsFunc(steps, func(s block) bool { return s.id != "" }) {
			return steps, nil
		}
	}
	return nil, errNoImport
}

// chainSteps returns the steps of a chain whose lines end before end.
func chainSteps(lines [][]byte, entries []*yaml.Node, end int) (steps []block) {
	first := -1
	for i := 0; i+1 < len(entries); i += 2 {
		name, ok := strings.CutPrefix(entries[i].Value, "step ")
		if !ok {
			continue
		}
		s := block{name: strings.TrimSpace(name), body: entries[i].Line - 1, end: end}
		if s.start = headOf(lines, s.body); first >= 0 {
			s.start, first = first, -1
		}
		if i+3 < len(entries) && entries[i+2].Value == "step "+strings.TrimPrefix(s.name, pauseBefore) {
			first = s.start // the pause belongs to the next step
			continue
		}
		if i+2 < len(entries) {
			s.end = headOf(lines, entries[i+2].Line-1)
		}
		s.head, s.text = string(bytes.Join(lines[s.start:s.body], nil)), string(bytes.Join(lines[s.body:s.end], nil))
		for line := range strings.Lines(s.head) {
			if of, ok := strings.CutPrefix(strings.TrimSpace(line), marker); ok {
				at := strings.LastIndexByte(of, ' ')
				s.id, s.sum = of[:max(at, 0)], of[at+1:]
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// pauseBefore begins the name of the pause before a step.
const pauseBefore = "before_"

// headOf returns the first of the comment lines directly above a line.
func headOf(lines [][]byte, line int) int {
	for line > 0 && bytes.HasPrefix(bytes.TrimSpace(lines[line-1]), []byte("#")) {
		line--
	}
	return line
}

// splice returns a text with its steps as they are now, and new ones after them.
func splice(old []byte, steps []block, after map[int][]block) []byte {
	lines := bytes.SplitAfter(old, []byte("\n"))
	var out bytes.Buffer
	write := func(text string) {
		if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.WriteByte('\n')
		}
		out.WriteString(text)
	}
	added := func(i int) {
		for _, s := range after[i] {
			write("\n" + s.head + strings.TrimRight(s.text, "\n") + "\n")
		}
	}
	at := 0
	for i, s := range steps {
		out.Write(bytes.Join(lines[at:s.start], nil))
		if i == 0 {
			added(-1)
		}
		write(s.head + s.text)
		if len(after[i]) > 0 {
			trimmed := bytes.TrimRight(out.Bytes(), "\n")
			out.Truncate(len(trimmed))
			out.WriteByte('\n')
			added(i)
			out.WriteByte('\n')
		}
		at = s.end
	}
	out.Write(bytes.Join(lines[at:], nil))
	return out.Bytes()
}
