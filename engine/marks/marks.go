// Package marks checks what a user writes on a run: its name and tags.
package marks

import (
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
)

// The limits of names and tags.
const (
	maxName = 120 // characters
	maxTag  = 40  // characters
	maxTags = 20
	maxNote = 100_000 // bytes
)

// CheckNote checks the length of a note. The error is a *FieldError.
func CheckNote(text string) error {
	if len(text) > maxNote {
		return &engine.FieldError{Field: "note", Problem: "is longer than " + engine.FormatBytes(maxNote), Hint: "keep the rest in a file"}
	}
	return nil
}

// CheckName returns a name without surrounding spaces. The error is a *engine.FieldError.
func CheckName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case len([]rune(name)) > maxName:
		return "", &engine.FieldError{Field: "name", Problem: "is longer than " + engine.FormatCount(maxName) + " characters", Hint: "put the rest in the note"}
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", &engine.FieldError{Field: "name", Problem: "has more than one line", Hint: "put the rest in the note"}
	}
	return name, nil
}

// ParseTags reads tags separated by spaces or commas. The error is a *engine.FieldError.
func ParseTags(text string) ([]string, error) {
	return ChangeTags(nil, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }), nil)
}

// ChangeTags returns tags with others added and removed. The error is a *engine.FieldError.
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
		return nil, &engine.FieldError{Field: "tags", Problem: "a run has at most " + engine.FormatCount(maxTags) + " tags"}
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
		return "", &engine.FieldError{Field: "tags", Problem: "cannot use the tag " + strings.ToValidUTF8(tag, "?"), Hint: "use letters, digits, and - _ . / inside"}
	case len([]rune(tag)) > maxTag:
		return "", &engine.FieldError{Field: "tags", Problem: "the tag " + tag + " is longer than " + engine.FormatCount(maxTag) + " characters"}
	}
	return tag, nil
}
