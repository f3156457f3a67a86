package retrieval

import (
	"cmp"
	"slices"
)

// Weights say how much each part of a score counts, and how fast recency decays.
type Weights struct {
	Similarity, Recency, Importance float64
	Decay                           float64 // recency after one cycle, as a factor
}

// Candidate is a note that may be recalled.
type Candidate struct {
	Vector     []byte // in the space and length of the query's
	Age        int    // cycles since it was last written or recalled
	Importance float64
	Rated      bool // it has an importance; one without counts as the least important
}

// Score is how well a note matches.
type Score struct {
	At         int     // its position in the list of candidates
	Score      float64 // the weighted sum of the three parts, each scaled to 0 to 1 over all candidates
	Similarity float64 // the cosine of the angle between note and query
	Recency    float64 // the decay over its age
}

// Rank returns the top candidates for a query, the best first. The score is that of Generative Agents (Park and others, Generative
// Agents: Interactive Simulacra of Human Behavior, 2023): the weighted sum of similarity, recency and importance, each scaled to the
// range from 0 to 1 by the least and the greatest among the candidates. A part that is the same for all is 0.5. Recency decays
// exponentially with the cycles since the note was last written or recalled. All candidates are compared. Of equal scores, the later
// candidate comes first.
func Rank(all []Candidate, query []byte, w Weights, top int) []Score {
	scores := make([]Score, len(all))
	var similar, recent, important span
	for i := range all {
		c := &all[i]
		scores[i] = Score{At: i, Similarity: Cosine(query, c.Vector), Recency: power(w.Decay, c.Age)}
		similar.add(scores[i].Similarity)
		recent.add(scores[i].Recency)
		if c.Rated {
			important.add(c.Importance)
		}
	}
	for i := range scores {
		s := &scores[i]
		importance := 0.0
		if all[i].Rated || !important.any {
			importance = important.scale(all[i].Importance)
		}
		// Each product is rounded on its own, so that no processor fuses it with the sum.
		s.Score = float64(w.Similarity*similar.scale(s.Similarity)) + float64(w.Recency*recent.scale(s.Recency)) + float64(w.Importance*importance)
	}
	slices.SortFunc(scores, func(a, b Score) int { return cmp.Or(cmp.Compare(b.Score, a.Score), b.At-a.At) })
	return scores[:min(top, len(scores))]
}

// span is the range of some numbers.
type span struct {
	least, most float64
	any         bool
}

func (s *span) add(x float64) {
	if !s.any {
		*s = span{x, x, true}
	}
	s.least, s.most = min(s.least, x), max(s.most, x)
}

// scale maps the range to 0 to 1, and the only number of a range to 0.5.
func (s *span) scale(x float64) float64 {
	if s.most == s.least {
		return 0.5
	}
	return (x - s.least) / (s.most - s.least)
}

// power returns base to the power of n, computed by products only, so that it is the same on every processor.
func power(base float64, n int) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= base
		}
		base *= base
	}
	return result
}
