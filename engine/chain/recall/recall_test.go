package recall

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// random returns embeddings of texts.
func random(r *rand.Rand, texts []string) [][]float32 {
	all := make([][]float32, len(texts))
	for i := range all {
		all[i] = make([]float32, 256)
		for k := range all[i] {
			all[i][k] = float32(r.NormFloat64())
		}
	}
	return all
}

// BenchmarkSearch measures a step without its requests: 200 notes, one of them new.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := &engine.Memory{}
	for i := range 200 {
		m = m.Apply(&engine.Delta{Notes: [][]byte{fmt.Appendf(nil, `"At %d o'clock person-%d told me about the bakery and the council, and that the town decides soon. I was worried."`, i%24, i)}, Keep: 200})
		if i < 199 {
			m = m.Apply(embedded(b, r, m))
		}
	}
	q := Query{Text: "What do I know about the council?", Top: 5, Weights: retrieval.Weights{Similarity: 1, Recency: 1, Importance: 1, Decay: 0.995}, Cycle: 200}
	b.ReportAllocs()
	texts := random(r, []string{"query", "note"})
	for b.Loop() {
		if _, err := Search(m, &q, func(int, []string) ([][]float32, error) { return texts, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// embedded returns the change after which all notes of a memory have embeddings.
func embedded(t testing.TB, r *rand.Rand, m *engine.Memory) *engine.Delta {
	t.Helper()
	found, err := Search(m, &Query{Text: "q", Top: 1}, func(_ int, texts []string) ([][]float32, error) { return random(r, texts), nil })
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Delta{Kept: found.Kept}
}
