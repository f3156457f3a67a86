package mock

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// word is a word of names, categories and brands, in lower case, and the products that contain it.
type word struct {
	text     string
	products []int
}

func newWords(products []product) []word {
	found := map[string][]int{}
	for n, p := range products {
		for _, text := range splitWords(p.name + " " + p.category + " " + p.brand) {
			if in := found[text]; len(in) == 0 || in[len(in)-1] != n {
				found[text] = append(in, n)
			}
		}
	}
	words := make([]word, 0, len(found))
	for text, in := range found {
		words = append(words, word{text, in})
	}
	slices.SortFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return words
}

// splitWords returns the words of a text in lower case: its runs of letters and digits.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// stem is the length from which a word matches longer ones that start with it.
const stem = 3

// matches reports whether a word of the query matches a word of the catalogue: they are equal, or one starts with the other, so that
// "apple" and "apples" match.
func matches(query, text string) bool {
	if query == text {
		return true
	}
	return len(query) >= stem && strings.HasPrefix(text, query) || len(text) >= stem && strings.HasPrefix(query, text)
}

// maxQueryWords bounds the work of a search; further words are ignored.
const maxQueryWords = 16

// search finds products that contain a word of the query, at most limit: those with more matching words first, then in an order drawn for
// this user.
func (c *catalogue) search(user draw.Key, query string, limit int) []int {
	words := splitWords(query)
	words = words[:min(len(words), maxQueryWords)]
	marks := make([]uint16, len(c.products)) // by product, one bit for each matching word of the query
	for i, q := range words {
		for _, w := range c.words {
			if matches(q, w.text) {
				for _, n := range w.products {
					marks[n] |= 1 << i
				}
			}
		}
	}
	return c.rank(user, marks, limit)
}

// hit is a product found by a search.
type hit struct {
	product, words int
	draw           uint64
}

// rank orders the marked products by the number of matching words, then by the user's draws.
func (c *catalogue) rank(user draw.Key, marks []uint16, limit int) []int {
	order := user.Text("search")
	hits := make([]hit, 0, 32)
	for n, m := range marks {
		if m != 0 {
			hi, _ := order.Int(uint64(n)).Sum()
			hits = append(hits, hit{product: n, words: bits.OnesCount16(m), draw: hi})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.draw, b.draw), cmp.Compare(a.product, b.product))
	})
	found := make([]int, 0, min(limit, len(hits)))
	for _, h := range hits[:min(limit, len(hits))] {
		found = append(found, h.product)
	}
	return found
}
