package mock

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestEmbeddings requests one text and several, in both encodings.
func TestEmbeddings(t *testing.T) {
	client := startModel(t, ModelConfig{}).client(t)
	texts := []string{"The gardens of Lisbon", "Bridges"}
	var numbers embedReply[[]float32]
	if _, err := client.post("/embeddings", embedRequest{Input: texts, Model: "mock-1"}, &numbers); err != nil {
		t.Fatal(err)
	}
	if len(numbers.Data) != 2 || numbers.Data[1].Index != 1 || numbers.Data[0].Object != "embedding" || len(numbers.Data[0].Embedding) != dimensionsDefault ||
		numbers.Usage.PromptTokens != 6+2 || numbers.Usage.TotalTokens != 8 || numbers.Model != "mock-1" {
		t.Errorf("embeddings %+v", numbers.Usage)
	}
	var coded embedReply[[]byte] // JSON encodes bytes in base64
	if _, err := client.post("/embeddings", embedRequest{Input: texts, Model: "mock-1", Encoding: "base64"}, &coded); err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		got := make([]float32, len(coded.Data[i].Embedding)/4)
		if _, err := binary.Decode(coded.Data[i].Embedding, binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, numbers.Data[i].Embedding) {
			t.Errorf("%q differs by its encoding", texts[i])
		}
	}
	var short embedReply[[]float32]
	_, err := client.post("/embeddings", embedRequest{Input: texts[0], Model: "mock-1", Dimensions: 32}, &short)
	if err != nil || len(short.Data) != 1 || len(short.Data[0].Embedding) != 32 {
		t.Errorf("one text in 32 dimensions: %d %v", len(short.Data), err)
	}
}

// similarity is the cosine of two texts' vectors.
func similarity(a, b string) float64 {
	x, y := embed("m", a, dimensionsDefault), embed("m", b, dimensionsDefault)
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// TestSimilarTextsHaveSimilarVectors compares a text with others, from the most to the least similar.
func TestSimilarTextsHaveSimilarVectors(t *testing.T) {
	const text = "The gardens of Lisbon are quiet in winter"
	last := 1.0000001
	for _, other := range []string{
		text, "the GARDENS of Lisbon are quiet, in winter!", "In winter the gardens of Lisbon are quiet", "Gardens in Lisbon during a quiet winter",
		"A garden in the summer", "Stock prices fell sharply on Monday",
	} {
		near := similarity(text, other)
		if near > last+1e-6 {
			t.Errorf("%q has similarity %.3f, more than the one before with %.3f", other, near, last)
		}
		last = near
	}
	if last > 0.2 {
		t.Errorf("an unrelated text has similarity %.3f", last)
	}
	if a, b := similarity("dog bites man", "dog bites man"), similarity("dog bites man", "man bites dog"); b >= a || b < 0.5 {
		t.Errorf("another order of words has similarity %.3f, the same order %.3f", b, a)
	}
}

// TestVectorsAreUnit checks vectors of any text in any size.
func TestVectorsAreUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, size := rapid.String().Draw(t, "text"), rapid.IntRange(1, 300).Draw(t, "size")
		vector := embed("m", text, size)
		square := 0.0
		for _, v := range vector {
			square += float64(v) * float64(v)
		}
		if len(vector) != size || math.Abs(square-1) > 1e-5 {
			t.Fatalf("%q in %d dimensions has length %v", text, size, math.Sqrt(square))
		}
		if !slices.Equal(vector, embed("m", text, size)) {
			t.Fatalf("%q has two vectors", text)
		}
	})
	if slices.Equal(embed("m", "a", 9), embed("n", "a", 9)) {
		t.Error("two models have one vector")
	}
}
