package wizard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
)

// journey is the steps of a draft as a person arranges them. Steps are named by their IDs.
type journey struct {
	draft *importer.Draft
}

// index returns the index of a step; -1 for none.
func (j journey) index(id string) int {
	return slices.IndexFunc(j.draft.Steps, func(s importer.Step) bool { return s.ID == id })
}

// used returns how many steps are in the journey.
func (j journey) used() (n int) {
	for i := range j.draft.Steps {
		if j.draft.Steps[i].Use {
			n++
		}
	}
	return n
}

// toggle puts a step into the journey or takes it out.
func (j journey) toggle(id string) {
	if i := j.index(id); i >= 0 {
		j.draft.Steps[i].Use = !j.draft.Steps[i].Use
	}
}

// useAll puts all steps into the journey or takes all out.
func (j journey) useAll(use bool) {
	for i := range j.draft.Steps {
		j.draft.Steps[i].Use = use
	}
}

// useGroup puts the steps of a run of a group, which begins with a step, into the journey; if all are in it, it takes them out.
func (j journey) useGroup(first string) {
	from, to := j.group(first)
	use := j.chosen(from, to) < to-from
	for i := from; i < to; i++ {
		j.draft.Steps[i].Use = use
	}
}

// group returns the range of neighboring steps that have the group of a step, from that step on.
func (j journey) group(first string) (from, to int) {
	from = j.index(first)
	if from < 0 {
		return 0, 0
	}
	for to = from; to < len(j.draft.Steps) && j.draft.Steps[to].Group == j.draft.Steps[from].Group; {
		to++
	}
	return from, to
}

// chosen returns how many steps of a range are in the journey.
func (j journey) chosen(from, to int) (n int) {
	for _, s := range j.draft.Steps[from:to] {
		if s.Use {
			n++
		}
	}
	return n
}

// move moves a step over its neighbor above or below and reports whether it did. With only, neighbors outside of the journey do not count.
func (j journey) move(id string, by int, only bool) bool {
	steps := j.draft.Steps
	from := j.index(id)
	if from < 0 {
		return false
	}
	to := from + by
	for only && to >= 0 && to < len(steps) && !steps[to].Use {
		to += by
	}
	if to < 0 || to >= len(steps) {
		return false
	}
	step := steps[from]
	steps = slices.Delete(slices.Clone(steps), from, from+1)
	j.draft.Steps = slices.Insert(steps, to, step)
	return true
}

// lacks returns what a step needs: values without a source, and steps that are not in the journey before it. It returns sentences without
// an end.
func (j journey) lacks(i int) (all []string) {
	if !j.draft.Steps[i].Use {
		return nil
	}
	for _, name := range j.draft.Undecided(i) {
		all = append(all, name+" has no source")
	}
	for _, need := range j.draft.Needs(i) {
		of := &j.draft.Steps[need]
		switch {
		case !of.Use:
			all = append(all, of.Name+" is not in the journey")
		case need > i:
			all = append(all, of.Name+" comes after it")
		}
	}
	return all
}

// incomplete returns the names of the steps that lack a value.
func (j journey) incomplete() (names []string) {
	for i := range j.draft.Steps {
		if len(j.lacks(i)) > 0 {
			names = append(names, j.draft.Steps[i].Name)
		}
	}
	return names
}

// sources returns the names of the steps that a step takes values from.
func (j journey) sources(i int) (names []string) {
	for _, need := range j.draft.Needs(i) {
		names = append(names, j.draft.Steps[need].Name)
	}
	return names
}

// arrange takes the order and the choice of steps from another draft of the same source. Steps that it did not have stay as they are,
// after the others.
func (j journey) arrange(like *importer.Draft) {
	var steps []importer.Step
	for _, was := range like.Steps {
		if i := j.index(was.ID); i >= 0 {
			s := j.draft.Steps[i]
			s.Use = was.Use
			steps = append(steps, s)
		}
	}
	for _, s := range j.draft.Steps {
		if like.Step(s.ID) == nil {
			steps = append(steps, s)
		}
	}
	j.draft.Steps = steps
}

// snapshot returns a draft that does not change when this one is arranged.
func (j journey) snapshot() *importer.Draft {
	d := *j.draft
	d.Steps, d.Services, d.Secrets = slices.Clone(d.Steps), slices.Clone(d.Services), slices.Clone(d.Secrets)
	return &d
}

// filled stands for a value in a path.
const filled = "{}"

// path returns a path for display.
func path(v *importer.Value) string {
	if v.Parts != nil {
		var b strings.Builder
		for i := range v.Parts {
			b.WriteString(path(&v.Parts[i]))
		}
		return b.String()
	}
	if text, ok := v.Literal.(string); ok {
		return text
	}
	if v.Literal != nil {
		return fmt.Sprint(v.Literal)
	}
	return filled
}

// request returns the method and the path of a step. Values have the names that they have in the source: GET /carts/{id}.
func request(s *importer.Step) string {
	segments := strings.Split(path(&s.Path), "/")
	template, _, _ := strings.Cut(strings.TrimPrefix(s.ID, s.Method+" "), " ")
	named := strings.Split(template, "/")
	for i := range segments {
		if len(named) == len(segments) && strings.Contains(segments[i], filled) && strings.Contains(named[i], "{") {
			segments[i] = named[i]
		}
	}
	return s.Method + " " + strings.Join(segments, "/")
}

// several formats a count and its noun.
func several(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return engine.FormatCount(int64(n)) + " " + one
}

// summary says what a draft has.
func summary(d *importer.Draft, used int) string {
	source := cmp.Or(d.Source, "The source")
	first, size := utf8.DecodeRuneInString(source)
	text := fmt.Sprintf("%c%s: %s, %s in the journey.", unicode.ToUpper(first), source[size:], several(len(d.Steps), "step"), engine.FormatCount(int64(used)))
	if left := dropped(d); left != "" {
		text += " Left out: " + left + "."
	}
	if n := len(d.Notes); n > 0 {
		text += " " + several(n, "note") + "."
	}
	return text
}

// dropped says how much was left out for each reason, most first.
func dropped(d *importer.Draft) string {
	type count struct {
		reason string
		n      int
	}
	var all []count
	for _, one := range d.Dropped {
		n := max(one.Count, 1)
		if i := slices.IndexFunc(all, func(c count) bool { return c.reason == one.Reason }); i >= 0 {
			all[i].n += n
		} else {
			all = append(all, count{one.Reason, n})
		}
	}
	slices.SortStableFunc(all, func(a, b count) int { return b.n - a.n })
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = fmt.Sprintf("%s (%s)", engine.FormatCount(int64(c.n)), c.reason)
	}
	return strings.Join(texts, ", ")
}

// details lists everything that was left out, and the notes.
func details(d *importer.Draft) string {
	var b strings.Builder
	for _, n := range d.Notes {
		b.WriteString(n + "\n")
	}
	for _, one := range d.Dropped {
		times := ""
		if one.Count > 1 {
			times = fmt.Sprintf(" × %s", engine.FormatCount(int64(one.Count)))
		}
		fmt.Fprintf(&b, "%s%s: %s\n", one.What, times, one.Reason)
	}
	return strings.TrimRight(b.String(), "\n")
}

// signIn says how agents sign in to a service, and what a person must fill in.
func signIn(s *importer.Service) string {
	how := ""
	switch a := &s.Auth; a.Kind {
	case importer.Bearer:
		how = "a bearer token, the secret " + a.Secret
	case importer.Basic:
		how = "a user and a password, the secret " + a.Secret
	case importer.Header:
		how = fmt.Sprintf("an API key in the header %s, the secret %s", a.Name, a.Secret)
	case importer.Query:
		how = fmt.Sprintf("an API key in the parameter %s, the secret %s", a.Name, a.Secret)
	case importer.Cookie:
		how = fmt.Sprintf("a key in the cookie %s, the secret %s", a.Name, a.Secret)
	case importer.Login:
		how = "a login of each agent"
		if a.Request != nil {
			how += ", " + request(a.Request)
		}
	case importer.NoAuth:
	}
	text := "Sign-in: " + how + "."
	note := strings.TrimSpace(strings.TrimPrefix(s.Auth.Note, importer.OneAccount)) // the users are asked for below
	switch {
	case how == "" && s.Cookies:
		text = "No sign-in apart from the steps of the journey; each agent keeps its cookies."
	case how == "":
		text = "No sign-in was found."
	}
	return strings.TrimSpace(text + " " + note)
}

// logsIn reports whether agents have logins of their own, so that a file of users helps.
func logsIn(d *importer.Draft) bool {
	return slices.ContainsFunc(d.Services, func(s importer.Service) bool {
		return s.Auth.Kind == importer.Login || s.Auth.Kind == importer.Basic
	}) || slices.ContainsFunc(d.Steps, func(s importer.Step) bool {
		name := strings.ToLower(s.Name + " " + s.ID)
		return s.Use && s.Method != "GET" && (strings.Contains(name, "login") || strings.Contains(name, "signin") || strings.Contains(name, "sign_in"))
	})
}
