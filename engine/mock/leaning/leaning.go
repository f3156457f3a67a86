// Package leaning makes the choices of a mock persona: they depend on the words and numbers of its prompt, as those of real models do.
package leaning

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Leaning is what a prompt makes a persona lean to. Each word adds to the utility of each choice, and so does each number, in proportion to
// its size. Choices are drawn from a multinomial logit of the utilities (McFadden 1974).
type Leaning struct {
	words   []string
	numbers []float64
}

const (
	shortest  = 3    // letters of a word that counts
	mostWords = 500  // further ones do not count
	strength  = 0.9  // standard deviation of what a word adds
	middle    = 40.0 // numbers count by their distance from it, which suits ages,
	spread    = 20.0 // in units of this, up to two
)

// New returns the leaning for a text.
func New(text string) *Leaning {
	l := &Leaning{}
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' }) {
		word = strings.Trim(word, ".")
		if x, err := strconv.ParseFloat(word, 64); err == nil {
			if len(l.numbers) < mostWords {
				l.numbers = append(l.numbers, x)
			}
			continue
		}
		if len([]rune(word)) >= shortest && !seen[word] && len(l.words) < mostWords {
			seen[word] = true
			l.words = append(l.words, word)
		}
	}
	return l
}

// utility returns the utility of a choice in a field of the answer.
func (l *Leaning) utility(field, choice string) (sum float64) {
	key := draw.Key{}.Text("leaning").Text(field).Text(choice)
	for _, word := range l.words {
		sum += strength * key.Text(word).Source().Normal()
	}
	slope := strength * key.Text("a number").Source().Normal()
	for _, x := range l.numbers {
		sum += slope * max(-2, min((x-middle)/spread, 2))
	}
	return sum
}

// Pick returns the index of the choice for a number from 0 to 1.
func (l *Leaning) Pick(u float64, field string, choices []string) int {
	weights := make([]float64, len(choices))
	most, total := math.Inf(-1), 0.0
	for i, choice := range choices {
		weights[i] = l.utility(field, choice)
		most = max(most, weights[i])
	}
	for i := range weights {
		weights[i] = math.Exp(weights[i] - most)
		total += weights[i]
	}
	u *= total
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(choices) - 1
}

// Level returns a place from 0 to 1 on a scale, for another number from 0 to 1.
func (l *Leaning) Level(u float64, field string) float64 {
	u = min(max(u, 1e-9), 1-1e-9)
	x := l.utility(field, "a scale") + math.Log(u/(1-u))
	return 1 / (1 + math.Exp(-x))
}
