package engine

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Marks are what a user wrote on a run.
type Marks struct {
	Name string   // "" uses the scenario's title
	Tags []string // sorted, in lower case
	Star bool
	Note string
}

// DisplayName returns the name of a run, or the title of its scenario.
func (r *RunRecord) DisplayName() string { return cmp.Or(r.Name, r.Title) }

// The limits of names and tags.
const (
	maxName = 120 // characters
	maxTag  = 40  // characters
	maxTags = 20
)

// CheckName returns a name without surrounding spaces. The error is a *FieldError.
func CheckName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case len([]rune(name)) > maxName:
		return "", &FieldError{Field: "name", Problem: "is longer than " + FormatCount(maxName) + " characters", Hint: "put the rest in the note"}
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", &FieldError{Field: "name", Problem: "has more than one line", Hint: "put the rest in the note"}
	}
	return name, nil
}

// ParseTags reads tags separated by spaces or commas. The error is a *FieldError.
func ParseTags(text string) ([]string, error) {
	return ChangeTags(nil, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }), nil)
}

// ChangeTags returns tags with others added and removed. The error is a *FieldError.
func ChangeTags(tags, add, remove []string) ([]string, error) {
	all := slices.Clone(tags)
	for _, tag := range add {
		tag, err := checkTag(tag)
		if err != nil {
			return nil, err
		}
		all = append(all, tag)
	}
	for _, tag := range remove {
		tag = strings.ToLower(tag)
		all = slices.DeleteFunc(all, func(t string) bool { return t == tag })
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxTags {
		return nil, &FieldError{Field: "tags", Problem: "a run has at most " + FormatCount(maxTags) + " tags"}
	}
	return all, nil
}

func checkTag(tag string) (string, error) {
	tag = strings.ToLower(tag)
	wrong := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}
	switch {
	case tag == "" || strings.ContainsFunc(tag, wrong) || tag[0] == '-':
		return "", &FieldError{Field: "tags", Problem: "cannot use the tag " + strings.ToValidUTF8(tag, "?"), Hint: "use letters, digits, and - _ . / inside"}
	case len([]rune(tag)) > maxTag:
		return "", &FieldError{Field: "tags", Problem: "the tag " + tag + " is longer than " + FormatCount(maxTag) + " characters"}
	}
	return tag, nil
}

// Baseline is what a run's scenario says without changes. It shows how a run differs from its scenario.
type Baseline struct {
	Parameters map[string]string `json:"parameters,omitempty"` // defaults by name, as JSON texts
	Titles     map[string]string `json:"titles,omitempty"`     // of parameters that have one
	Settings   map[string]string `json:"settings,omitempty"`   // those that the scenario sets, as texts
	Acted      string            `json:"acted,omitempty"`      // the event of sessions that count as having acted
}

// Tally counts the sessions of a run that matter for its outcome.
type Tally struct {
	Acted, Failed int64
}
