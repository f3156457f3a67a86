package importer

import (
	"bytes"
	"fmt"
	"regexp"
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
	p := newPlaces(d, was, now)
	for i := range now {
		now[i].adopt(p.names)
	}
	// after holds the new steps by the index of the step of the old file that they follow; -1 is the start of the chain.
	after := map[int][]block{}
	for _, s := range now {
		i, ok := p.known[s.id]
		if !ok {
			at := p.of[s.id]
			after[at] = append(after[at], s)
			m.Added = append(m.Added, s.name)
			continue
		}
		switch text := sum(was[i].text); {
		case s.sum == was[i].sum || s.sum == text:
		case text == was[i].sum && p.lowest(s.id) < i:
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
		name, what, _ := strings.Cut(strings.TrimPrefix(o, "step "), ":")
		if to := p.names[name]; to != "" {
			name, o = to, "step "+to+":"+what
		}
		if slices.Contains(m.Added, name) || slices.Contains(m.Updated, name) {
			m.Open = append(m.Open, o)
		}
	}
	var steps strings.Builder // that are new in the file
	for _, s := range now {
		if slices.Contains(m.Added, s.name) || slices.Contains(m.Updated, s.name) {
			steps.WriteString(s.head + s.text)
		}
	}
	if m.Text, err = d.addConstants(splice(old, was, after), steps.String()); err != nil {
		return nil, err
	}
	if m.Text, err = d.addAttributes(m.Text, steps.String()); err != nil {
		return nil, err
	}
	return m, nil
}

// places says where the steps of an import go in an older file.
type places struct {
	known map[string]int      // indexes of steps in the old file, by ID
	of    map[string]int      // by ID, the index of the old step that a step follows, or its own
	needs map[string][]string // by ID, the IDs of the steps that a step needs
	names map[string]string   // names of new steps, where the old file calls them something else or has another step of that name
}

// newPlaces places the steps of an import: a new step follows the one that it follows in the source, and everything that it needs.
func newPlaces(d *Draft, was, now []block) *places {
	p := &places{known: map[string]int{}, of: map[string]int{}, needs: map[string][]string{}, names: map[string]string{}}
	taken, ids := map[string]bool{}, map[string]string{}
	for i, s := range was {
		p.known[s.id], taken[s.name] = i, true
	}
	for _, s := range now {
		ids[s.name] = s.id
		i, ok := p.known[s.id]
		switch {
		case ok && was[i].name != s.name:
			p.names[s.name] = was[i].name
		case !ok && taken[s.name]:
			name := s.name
			for n := 2; taken[name]; n++ {
				name = fmt.Sprintf("%s_%d", s.name, n)
			}
			p.names[s.name], taken[name] = name, true
		}
	}
	for i := range d.Steps {
		id := ids[d.Steps[i].Name]
		for _, need := range d.Needs(i) {
			if of, ok := ids[d.Steps[need].Name]; ok && d.Steps[i].Use {
				p.needs[id] = append(p.needs[id], of)
			}
		}
	}
	at := -1
	for _, s := range now {
		if i, ok := p.known[s.id]; ok {
			at = i
			p.of[s.id] = i
			continue
		}
		p.of[s.id] = max(at, p.lowest(s.id))
	}
	return p
}

// lowest returns the index of the last old step that must be above a step, because it or a new step after it is needed; -1 for none.
func (p *places) lowest(id string) int {
	at := -1
	for _, need := range p.needs[id] {
		if i, ok := p.of[need]; ok {
			at = max(at, i)
		}
	}
	return at
}

// reference matches what an expression uses of a step.
var reference = regexp.MustCompile(`\bsteps\.([A-Za-z_]\w*)`)

// adopt takes over the names that the steps have in the old file.
func (s *block) adopt(names map[string]string) {
	if len(names) == 0 {
		return
	}
	text := reference.ReplaceAllStringFunc(s.text, func(found string) string {
		if to := names[strings.TrimPrefix(found, "steps.")]; to != "" {
			return "steps." + to
		}
		return found
	})
	if to := names[s.name]; to != "" {
		text = strings.Replace(text, "step "+s.name+":", "step "+to+":", 1)
		s.head = strings.Replace(s.head, "step "+pauseBefore+s.name+":", "step "+pauseBefore+to+":", 1)
		s.name = to
	}
	if text == s.text {
		return
	}
	s.text = text
	was := s.sum
	s.sum = sum(text)
	s.head = strings.Replace(s.head, " "+was+"\n", " "+s.sum+"\n", 1)
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
	top, err := topOf(text)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
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
