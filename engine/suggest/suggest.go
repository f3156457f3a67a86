// Package suggest finds the name that a misspelled word was meant to be.
package suggest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest returns the candidate that word was most likely meant to be, or "" if none is near. It ignores case, hyphens
// and spaces, and allows longer words more mistakes. Of equally near candidates it returns the first.
func Nearest(word string, candidates []string) string {
	const longest = 64 // longer words are not typing mistakes
	from := fold(word)
	if len(from) == 0 || len(from) > longest {
		return ""
	}
	best, found := tolerance(len(from))+1, ""
	for _, candidate := range candidates {
		to := fold(candidate)
		if len(to) == 0 || len(to) > longest || len(to)-len(from) >= best || len(from)-len(to) >= best {
			continue
		}
		if d := distance(from, to); d < best {
			best, found = d, candidate
		}
	}
	return found
}

// Hint returns the question whether the nearest candidate was meant, or "" if none is near.
func Hint(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// Guess is a hint for a misspelled name.
type Guess struct {
	Meant string // the name that was probably meant; "" if none is near
	Hint  string // for people: it asks for that name
}

// NewGuess returns a guess with the nearest candidate as code, or with another hint if none is near.
func NewGuess(word string, candidates []string, otherwise string) Guess {
	if near := Nearest(word, candidates); near != "" {
		return Guess{near, "did you mean `" + near + "`?"}
	}
	return Guess{Hint: otherwise}
}

// And adds to the hint if it asks for a name.
func (g Guess) And(more string) Guess {
	if g.Meant != "" {
		g.Hint += " " + more
	}
	return g
}

// tolerance returns how many mistakes a word of n characters may have: 1 up to four characters, 2 up to eight, then 3.
func tolerance(n int) int {
	if n < 2 {
		return 0
	}
	return min(1+(n-1)/4, 3)
}

func fold(word string) []rune {
	runes := make([]rune, 0, utf8.RuneCountInString(word))
	for _, r := range strings.TrimSpace(word) {
		if r == '-' || r == ' ' {
			r = '_'
		}
		runes = append(runes, unicode.ToLower(r))
	}
	return runes
}

// distance returns the Damerau-Levenshtein distance in its restricted form (optimal string alignment): insertions,
// deletions, substitutions and swaps of neighbours (Damerau, CACM 7(3), 1964).
func distance(a, b []rune) int {
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(b)]
}
