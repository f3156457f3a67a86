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

// grouped groups settings by heading, in order.
func grouped(all []Setting) []part {
	var parts []part
	for _, s := range all {
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
	return hasWords(s.Name+" "+s.Shown+" "+s.Title+" "+s.Group+" "+s.Help+" "+s.Value+" "+s.From, looked)
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
