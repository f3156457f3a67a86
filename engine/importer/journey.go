package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Follow makes a journey of the steps that a description names, in its order: "login, search, add to cart, order". Steps whose
// answers the named ones need come before them. Everything else leaves the journey. An error names the parts that fit no step.
func (d *Draft) Follow(description string) error {
	var order []int
	var unknown []string
	for part := range strings.FieldsFuncSeq(description, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '→' || r == '>' }) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		i := d.like(part)
		if i < 0 {
			unknown = append(unknown, part)
		} else {
			order = d.withNeeds(order, i)
		}
	}
	switch {
	case len(unknown) > 0:
		return &UnknownStepsError{unknown, d.names()}
	case len(order) == 0:
		return errors.New("the journey names no step")
	}
	steps := make([]Step, 0, len(d.Steps))
	for _, i := range order {
		s := d.Steps[i]
		s.Use = true
		steps = append(steps, s)
	}
	for i, s := range d.Steps {
		if !slices.Contains(order, i) {
			s.Use = false
			steps = append(steps, s)
		}
	}
	d.Steps = steps
	return nil
}

// UnknownStepsError lists the parts of a journey that fit no step.
type UnknownStepsError struct{ Parts, Steps []string }

func (e *UnknownStepsError) Error() string {
	const most = 20
	more := ""
	steps := e.Steps
	if len(steps) > most {
		steps, more = steps[:most], fmt.Sprintf(" and %d more", len(e.Steps)-most)
	}
	return fmt.Sprintf("the source has no step like %s; it has %s%s", strings.Join(e.Parts, ", "), strings.Join(steps, ", "), more)
}

func (d *Draft) names() []string {
	names := make([]string, len(d.Steps))
	for i := range d.Steps {
		names[i] = d.Steps[i].Name
	}
	return names
}

// withNeeds adds a step to an order, after the steps that it takes values from.
func (d *Draft) withNeeds(order []int, i int) []int {
	if slices.Contains(order, i) {
		return order
	}
	for _, need := range d.Needs(i) {
		if need < i {
			order = d.withNeeds(order, need)
		}
	}
	return append(order, i)
}

// Needs returns the indexes of the steps that a step takes values from, or that create what it is about.
func (d *Draft) Needs(i int) (needs []int) {
	need := func(id string) {
		at := slices.IndexFunc(d.Steps, func(s Step) bool { return s.ID == id })
		if at >= 0 && at != i && !slices.Contains(needs, at) {
			needs = append(needs, at)
		}
	}
	for _, id := range d.Steps[i].After {
		need(id)
	}
	d.Steps[i].each(func(v *Value) {
		if v.From != nil {
			need(v.From.Step)
		}
	})
	return needs
}

// Undecided returns the names of a step's values that have no source, in any order of the journey. A value without a name has its example.
func (d *Draft) Undecided(i int) (names []string) {
	d.Steps[i].each(func(v *Value) {
		if v.Open == nil {
			return
		}
		name := v.Open.Name
		switch {
		case name == "" && v.Open.Example != nil:
			name = fmt.Sprint(v.Open.Example)
		case name == "":
			name = "a value"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// field returns the name of the field that a value is taken from; "" if it has none.
func (f *From) field() string {
	path := f.Path
	if f.Wrap != "" && strings.HasPrefix(f.Wrap, "pick(%s)") {
		path = strings.TrimPrefix(f.Wrap, "pick(%s)")
	} else if f.Wrap != "" {
		return ""
	}
	return strings.Trim(path[strings.LastIndexAny(path, ".[")+1:], `"]`)
}

// each calls f for every value of a step, outer ones first.
func (s *Step) each(f func(*Value)) {
	s.Path.each(f)
	eachOf(s.Query, f)
	eachOf(s.Headers, f)
	if s.Body != nil {
		s.Body.Value.each(f)
		eachOf(s.Body.Pairs, f)
	}
}

func eachOf(pairs []Pair, f func(*Value)) {
	for i := range pairs {
		pairs[i].Value.each(f)
	}
}

func (v *Value) each(f func(*Value)) {
	f(v)
	for i := range v.Parts {
		v.Parts[i].each(f)
	}
	if v.Items != nil {
		for i := range *v.Items {
			(*v.Items)[i].each(f)
		}
	}
	if v.Fields != nil {
		eachOf(*v.Fields, f)
	}
}

// like returns the index of the step that a text describes best; -1 for none. Each word of the text must fit one of the step's
// name, method, path or title; words of the name count most, and among equals the step in the journey and the shorter name win.
func (d *Draft) like(text string) int {
	best, at := 0, -1
	wanted := words(text)
	for i := range d.Steps {
		s := &d.Steps[i]
		if strings.EqualFold(text, s.Name) || strings.EqualFold(text, s.ID) {
			return i
		}
		score := fit(wanted, s)
		if score > 0 && s.Use {
			score++
		}
		if score > best {
			best, at = score, i
		}
	}
	return at
}

// fit returns how well words describe a step; 0 if one of them does not.
func fit(wanted []string, s *Step) int {
	name, path, title := words(s.Name), words(s.ID), words(s.Title)
	score := 0
	for _, w := range wanted {
		if filler[w] {
			continue
		}
		points := scored(w, name, path, title, 8, 6, 5)
		for _, synonym := range synonyms[w] {
			points = max(points, scored(synonym, name, path, title, 4, 3, 2))
		}
		if points == 0 {
			return 0
		}
		score += points * 100
	}
	return score - 10*len(name) - len(path)
}

// scored returns the points of a word that is in the name, the path or the title of a step; 0 for none.
func scored(word string, name, path, title []string, inName, inPath, inTitle int) int {
	switch {
	case slices.ContainsFunc(name, alike(word)):
		return inName
	case slices.ContainsFunc(path, alike(word)):
		return inPath
	case slices.ContainsFunc(title, alike(word)):
		return inTitle
	}
	return 0
}

// alike reports words that are the same, apart from a plural.
func alike(a string) func(string) bool {
	return func(b string) bool {
		return a == b || strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") || len(a) > 3 && strings.HasPrefix(b, a)
	}
}

var filler = map[string]bool{"a": true, "an": true, "the": true, "to": true, "of": true, "in": true, "all": true, "and": true, "then": true}

// synonyms are what operations are called by people, and in paths and methods.
var synonyms = map[string][]string{
	"login": {"signin", "token", "auth", "sessions"}, "signin": {"login", "token"}, "logout": {"signout"},
	"register": {"signup", "users"}, "signup": {"register"},
	"add": {"post", "create", "put"}, "create": {"post", "add", "new"}, "new": {"post", "create", "add"}, "order": {"orders", "checkout"},
	"buy": {"order", "checkout", "purchase"}, "checkout": {"order"}, "pay": {"payment", "checkout"},
	"search": {"find", "list", "query"}, "find": {"search", "get"}, "list": {"get", "search"}, "browse": {"list", "search"},
	"look": {"get", "read", "show"}, "show": {"get", "read"}, "read": {"get"}, "view": {"get", "read"}, "open": {"get"},
	"change": {"update", "put", "patch"}, "update": {"put", "patch"}, "edit": {"update", "put", "patch"},
	"remove": {"delete"}, "delete": {"remove"}, "cancel": {"delete", "remove"}, "cart": {"basket"}, "basket": {"cart"},
}

// words splits a text into its words in lower case.
func words(text string) []string {
	return strings.FieldsFunc(Identifier(text), func(r rune) bool { return r == '_' })
}
