package settings

import (
	"slices"
	"strings"
)

// part is a group of settings.
type part struct {
	title    string
	settings []Setting
}

// grouped groups settings by heading, in order. It omits settings that do not match the search.
func grouped(all []Setting, looked string) []part {
	var parts []part
	for _, s := range all {
		if !s.matches(looked) {
			continue
		}
		i := slices.IndexFunc(parts, func(p part) bool { return p.title == s.Group })
		if i < 0 {
			i, parts = len(parts), append(parts, part{title: s.Group})
		}
		parts[i].settings = append(parts[i].settings, s)
	}
	return parts
}

// matches reports whether a setting has all words of the search.
func (s Setting) matches(looked string) bool {
	text := strings.ToLower(s.Name + " " + s.Title + " " + s.Group + " " + s.Help + " " + s.Value + " " + s.From)
	for word := range strings.FieldsSeq(strings.ToLower(looked)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// tidy removes zeros at the end of a duration.
func tidy(value string) string {
	if whole, ok := strings.CutSuffix(value, "m0s"); ok {
		value = whole + "m"
	}
	if whole, ok := strings.CutSuffix(value, "h0m"); ok {
		value = whole + "h"
	}
	return value
}
