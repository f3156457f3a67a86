package app

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
)

func fine(format string, args ...any) engine.Check {
	return engine.Check{Grade: engine.GradeOK, Text: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) engine.Check {
	return engine.Check{Grade: engine.GradeUnknown, Text: fmt.Sprintf(format, args...)}
}

func warning(hint, format string, args ...any) engine.Check {
	return engine.Check{Grade: engine.GradeWarning, Text: fmt.Sprintf(format, args...), Hint: hint}
}

func problem(hint, format string, args ...any) engine.Check {
	return engine.Check{Grade: engine.GradeProblem, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// withFix adds the button that fixes what a check found.
func withFix(c engine.Check, way, to string) engine.Check {
	if c.Fix = way; to != "" {
		c.Fix += " " + to
	}
	return c
}

// plural returns a count with its noun.
func plural(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return engine.FormatCount(n) + " " + more
}
