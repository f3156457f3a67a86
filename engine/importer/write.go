package importer

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Written is a draft as a scenario file.
type Written struct {
	Text []byte
	// Open lists what a person must decide, as "step NAME: WHAT"; the file marks the same places.
	Open []string
}

// Write writes the steps that are in the journey as a scenario. A value whose source is not in the journey, or comes later, is
// left open.
func (d *Draft) Write() Written {
	w := &writer{draft: d, at: map[string]int{}}
	for i := range d.Steps {
		if d.Steps[i].Use {
			w.at[d.Steps[i].ID] = i
		}
	}
	w.head()
	w.population()
	w.services()
	top := w.text.String()
	w.text.Reset()
	w.line(0, "")
	w.line(0, "chain visit:")
	first := true
	for i := range d.Steps {
		if !d.Steps[i].Use {
			continue
		}
		if !first {
			w.line(0, "")
		}
		w.step(i)
		first = false
	}
	w.line(0, "")
	w.line(0, "success:")
	w.line(1, "error_rate: < 1%%")
	w.line(1, "request_p95: < 2s")
	steps := w.text.String()
	w.text.Reset()
	w.functions(top + steps)
	return Written{[]byte(top + w.text.String() + steps), w.open}
}

// writer writes the lines of a scenario.
type writer struct {
	draft *Draft
	text  strings.Builder
	at    map[string]int // indexes of the steps in the journey, by ID
	now   int            // index of the step that is being written; -1 outside of the journey
	name  string         // of it
	open  []string
}

func (w *writer) line(depth int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		w.text.WriteString(strings.Repeat("  ", depth))
		w.text.WriteString(text)
	}
	w.text.WriteByte('\n')
}

// comment writes a text of one or more lines as comments.
func (w *writer) comment(depth int, text string) {
	const width = 110
	for line := range strings.Lines(text) {
		for _, part := range wrap(printable(line), width) {
			w.line(depth, "%s", "# "+part)
		}
	}
}

func (w *writer) head() {
	d := w.draft
	w.comment(0, "Made from "+cmp.Or(d.Source, "requests")+".")
	if d.Partial != "" {
		w.comment(0, "This is a part only: "+d.Partial)
	}
	for _, s := range d.Secrets {
		w.comment(0, "Needs the secret "+s.Name+", "+s.Use+":")
		w.line(0, "#   throngctl secret set %s", s.Name)
	}
	w.line(0, "title: %s", scalar(cmp.Or(d.Title, "Imported scenario")))
	if d.People == "" {
		w.line(0, "")
		w.line(0, "parameters:")
		w.line(1, "agents: {default: 10, min: 1, max: 1000000, title: Agents}")
	}
	w.line(0, "")
	w.line(0, "clock: {cycle: 1h, cycles: 1}    # each agent makes the journey once in a cycle")
}

func (w *writer) population() {
	w.now = -1
	w.line(0, "")
	w.line(0, "population:")
	if from := w.draft.People; from != "" {
		w.line(1, "from: %s", scalar(from))
	} else {
		w.line(1, "count: ${params.agents}")
		w.line(1, "id: user-${agent.index + 1}")
	}
	first := true
	for _, a := range w.draft.Data {
		if !a.Attribute {
			continue
		}
		if first {
			w.line(1, "attributes:")
			first = false
		}
		w.value(2, a.Name, a.Value, a.Note)
	}
}

func (w *writer) services() {
	w.line(0, "")
	w.line(0, "services:")
	for i := range w.draft.Services {
		s := &w.draft.Services[i]
		w.line(1, "%s:", s.Name)
		w.line(2, "kind: http")
		w.address(s)
		if s.OpenAPI != "" {
			w.line(2, "openapi: %s", scalar(s.OpenAPI))
		}
		if s.Cookies {
			w.line(2, "cookies: on")
		}
		w.pairs(2, "headers", s.Headers)
		w.auth(s)
		w.line(2, "limits: {connections: 50, timeout: 30s}")
	}
}

// address writes where a service is. If the source does not say, it is the mock of its document, if there is one.
func (w *writer) address(s *Service) {
	const unknown = "    # the source does not say where the backend is: write its address here"
	switch {
	case s.URL != "":
		w.line(2, "url: %s", scalar(s.URL))
		return
	case s.OpenAPI != "":
		w.line(2, "url: mock:%s%s", s.OpenAPI, unknown)
	default:
		w.line(2, "url: http://127.0.0.1:8080%s", unknown)
	}
	w.open = append(w.open, "service "+s.Name+": its address")
}

func (w *writer) auth(s *Service) {
	a := s.Auth
	if a.Note != "" {
		w.comment(2, a.Note)
	}
	secret := "secret:" + a.Secret
	switch a.Kind {
	case NoAuth:
	case Bearer:
		w.line(2, "auth: {bearer: %s}", secret)
	case Basic:
		w.line(2, "auth: {basic: {user: %s, password: %s}}", flow(a.User), secret)
	case Header, Query, Cookie:
		w.line(2, "auth: {%s: {name: %s, value: %s}}", a.Kind, flow(a.Name), secret)
	case Login:
		if a.Request == nil {
			return
		}
		w.line(2, "auth:")
		w.line(3, "login:")
		w.name = "the login of " + s.Name
		w.request(4, a.Request)
		if a.Token != "" {
			w.line(4, "token: %s", scalar(a.Token))
		}
	}
}

// functions writes the constants that a text uses.
func (w *writer) functions(text string) {
	first := true
	for _, c := range w.draft.Data {
		if c.Attribute || !uses(text, c.Name) {
			continue
		}
		if first {
			w.line(0, "")
			w.line(0, "functions: |")
			first = false
		}
		if c.Note != "" {
			w.comment(1, c.Note)
		}
		w.line(1, "%s = %s", c.Name, w.expression(c.Value))
	}
}

// uses reports whether a name occurs in a text, as a word.
func uses(text, name string) bool {
	part := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || !part(text[start-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		at = end
	}
}

// step writes a step of the journey, after its pause.
func (w *writer) step(i int) {
	s := &w.draft.Steps[i]
	w.now, w.name = i, "step "+s.Name
	if t := s.Think; t.Median > 0 {
		length := decimal(t.Median.Seconds())
		if t.Sigma > 0 {
			length = "${lognormal(" + length + ", " + decimal(t.Sigma) + ")}"
		}
		w.line(1, "step %s%s: {kind: wait, for: %q}", pauseBefore, s.Name, length)
	}
	if s.Title != "" && !strings.HasPrefix(s.ID, s.Title) {
		w.comment(1, s.Title)
	}
	for _, n := range s.Notes {
		w.comment(1, n)
	}
	body := &writer{draft: w.draft, at: w.at, now: i, name: w.name}
	body.line(1, "step %s:", s.Name)
	body.line(2, "kind: http")
	body.line(2, "service: %s", w.draft.Services[s.Service].Name)
	body.request(2, s)
	w.open = append(w.open, body.open...)
	text := body.text.String()
	w.line(1, "%s", "# imported: "+printable(s.ID)+" "+sum(text))
	w.text.WriteString(text)
}

// request writes the keys of a request.
func (w *writer) request(depth int, s *Step) {
	w.line(depth, "%s: %s", strings.ToLower(s.Method), w.scalar(s.Path))
	if s.Public {
		w.line(depth, "auth: none")
	}
	w.pairs(depth, "query", s.Query)
	w.pairs(depth, "headers", s.Headers)
	if b := s.Body; b != nil {
		w.body(depth, b)
	}
	switch len(s.Expect) {
	case 0:
	case 1:
		w.line(depth, "expect: %d", s.Expect[0])
	default:
		w.line(depth, "expect: [%s]", strings.Join(texts(s.Expect), ", "))
	}
	if s.Follow {
		w.line(depth, "redirects: follow")
	}
	if s.Check {
		w.line(depth, "check: schema")
	}
}

func (w *writer) body(depth int, b *Body) {
	switch b.Kind {
	case JSON:
		w.value(depth, "json", b.Value, "")
	case Form:
		w.pairs(depth, "form", b.Pairs)
	case Multipart:
		w.line(depth, "multipart:")
		for _, p := range b.Pairs {
			w.value(depth+1, p.Name, p.Value, p.Value.Note)
		}
		for _, f := range b.Files {
			w.line(depth+1, "%s: {file: %s, name: %s, type: %s}", scalar(f.Field), flow(f.File), flow(f.Name), flow(f.Type))
		}
	case Text:
		w.value(depth, "body", b.Value, "")
	}
}

// pairs writes named values below a key; nothing if there are none.
func (w *writer) pairs(depth int, key string, pairs []Pair) {
	if len(pairs) == 0 {
		return
	}
	w.line(depth, "%s:", key)
	for _, p := range pairs {
		w.value(depth+1, p.Name, p.Value, p.Value.Note)
	}
}

// value writes a value after a key, with a comment unless note is "".
func (w *writer) value(depth int, key string, v Value, note string) {
	w.after(depth, scalar(key)+":", v, note)
}

// after writes a value after the start of its line, which is a key or a dash.
func (w *writer) after(depth int, start string, v Value, note string) {
	if note != "" {
		w.comment(depth, note)
	}
	switch {
	case v.Fields != nil && len(*v.Fields) == 0:
		w.line(depth, "%s {}", start)
	case v.Items != nil && len(*v.Items) == 0:
		w.line(depth, "%s []", start)
	case v.Fields != nil:
		w.line(depth, "%s", start)
		for _, f := range *v.Fields {
			w.value(depth+1, f.Name, f.Value, f.Value.Note)
		}
	case v.Items != nil:
		w.line(depth, "%s", start)
		for _, item := range *v.Items {
			w.after(depth+1, "-", item, item.Note)
		}
	default:
		w.line(depth, "%s %s", start, w.scalar(v))
	}
}

// scalar returns a value as a YAML scalar.
func (w *writer) scalar(v Value) string {
	switch {
	case v.Parts != nil:
		var text strings.Builder
		for _, p := range v.Parts {
			if of, ok := p.Literal.(string); ok {
				text.WriteString(escaped(of))
			} else {
				text.WriteString("${" + w.expression(p) + "}")
			}
		}
		return scalar(text.String())
	case v.Secret != "":
		return "secret:" + v.Secret
	case v.Expr != "" || v.From != nil || v.Open != nil:
		return scalar("${" + w.expression(v) + "}")
	}
	if text, ok := v.Literal.(string); ok {
		return scalar(escaped(text))
	}
	return w.expression(v)
}

// expression returns a value as an expression. Values without a source in the journey are left open.
func (w *writer) expression(v Value) string {
	switch {
	case v.Expr != "":
		return v.Expr
	case v.Secret != "":
		return "secret:" + v.Secret
	case v.From != nil:
		at, ok := w.at[v.From.Step]
		if ok && w.now >= 0 && at < w.now {
			path := "steps." + w.draft.Steps[at].Name + v.From.Path
			if v.From.Wrap != "" {
				return fmt.Sprintf(v.From.Wrap, path)
			}
			return path
		}
		of := ""
		if name := v.From.field(); name != "" {
			of = name + " of " + v.From.Step
		}
		return w.unresolved(Open{of, v.From.Example, []string{"the answer of " + v.From.Step + ", which is not in the journey before it"}})
	case v.Open != nil:
		return w.unresolved(*v.Open)
	case v.Items != nil:
		parts := make([]string, len(*v.Items))
		for i, item := range *v.Items {
			parts[i] = w.expression(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Fields != nil:
		parts := make([]string, len(*v.Fields))
		for i, f := range *v.Fields {
			parts[i] = quote(f.Name) + ": " + w.expression(f.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return constant(v.Literal)
}

// unresolved returns a call that stands for a value without a source, and lists it.
func (w *writer) unresolved(o Open) string {
	args := []string{literal(o.Example)}
	for _, c := range o.Candidates {
		args = append(args, quote(c))
	}
	what := cmp.Or(o.Name, "a value")
	switch {
	case o.Example != nil && o.Name != "":
		what += fmt.Sprintf(" (for example %v)", o.Example)
	case o.Example != nil:
		what = fmt.Sprint(o.Example)
	}
	w.open = append(w.open, w.name+": "+what)
	return "unresolved(" + strings.Join(args, ", ") + ")"
}

// literal returns a constant as an expression; null is None.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return quote(v)
	}
	return constant(v)
}

// constant returns a constant in the notation of YAML, which is that of expressions for numbers and texts.
func constant(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case float64:
		return decimal(v)
	case time.Duration:
		return decimal(v.Seconds())
	}
	return fmt.Sprint(v)
}

func decimal(f float64) string {
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// sum identifies the text of a step, so that a later import sees whether a person has changed it. Comments and space do not count.
func sum(text string) string {
	h := fnv.New32a()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		_, _ = h.Write([]byte(line))
		_, _ = h.Write([]byte{'\n'})
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

func texts(numbers []int) []string {
	all := make([]string, len(numbers))
	for i, n := range slices.Sorted(slices.Values(numbers)) {
		all[i] = strconv.Itoa(n)
	}
	return all
}
