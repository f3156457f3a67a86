package power

import (
	"regexp"
	"strconv"
	"strings"
)

var charge = regexp.MustCompile(`(\d+)%`)

// pmset reads what `pmset -g batt` prints on macOS.
func pmset(text string) (Source, error) {
	from, _, found := strings.Cut(text, "\n")
	if !found || !strings.Contains(from, "drawing from") {
		return Source{}, ErrUnknown
	}
	source := Source{Battery: strings.Contains(from, "Battery Power"), Percent: -1}
	if m := charge.FindStringSubmatch(text); m != nil {
		source.Percent, _ = strconv.Atoi(m[1]) // the pattern matches digits
	}
	return source, nil
}
