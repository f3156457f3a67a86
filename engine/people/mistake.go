package people

import (
	"errors"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine/suggest"
)

// Mistake is an error of a plan or of its file.
type Mistake struct {
	Key     []string // where the plan has it, such as sample, targets, region; the file if empty
	Problem string
	suggest.Guess
}

func (m *Mistake) Error() string {
	text := m.Problem
	if len(m.Key) > 0 {
		text = strings.Join(m.Key, ".") + ": " + text
	}
	if m.Hint != "" {
		text += " (" + m.Hint + ")"
	}
	return text
}

// Mistakes returns the mistakes that an error consists of. A different error is a mistake without a key.
func Mistakes(err error) []*Mistake {
	if err == nil {
		return nil
	}
	if m, ok := errors.AsType[*Mistake](err); ok {
		if joined, many := err.(interface{ Unwrap() []error }); many {
			var all []*Mistake
			for _, one := range joined.Unwrap() {
				all = append(all, Mistakes(one)...)
			}
			return all
		}
		return []*Mistake{m}
	}
	return []*Mistake{{Problem: err.Error()}}
}

// wrongf returns a mistake of the file.
func wrongf(hint, format string, args ...any) *Mistake {
	return &Mistake{Problem: fmt.Sprintf(format, args...), Guess: suggest.Guess{Hint: hint}}
}

// at returns the mistake at a place of the plan.
func (m *Mistake) at(key ...string) *Mistake {
	m.Key = key
	return m
}

// counted returns a number with a word.
func counted[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// quoted shows a value of a file in a message, cut if it is long.
func quoted(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
