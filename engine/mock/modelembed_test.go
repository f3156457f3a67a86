package mock

import (
	"math"
	"slices"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"
)

// TestEmbeddingsThroughAnotherClient asks for one text, several, and in both encodings.
func TestEmbeddingsThroughAnotherClient(t *testing.T) {
	client := startModel(t, ModelConfig{}).client()
	texts := []string{"The gardens of Lisbon", "Bridges"}
	numbers, err := client.CreateEmbeddings(t.Context(), openai.EmbeddingRequestStrings{Input: texts, Model: "mock-1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers.Data) != 2 || numbers.Data[1].Index != 1 || numbers.Data[0].Object != "embedding" || len(numbers.Data[0].Embedding) != dimensionsDefault ||
		numbers.Usage.PromptTokens != 6+2 || numbers.Usage.TotalTokens != 8 || numbers.Model != "mock-1" {
		t.Errorf("embeddings %+v", numbers.Usage)
	}
	coded, err := client.CreateEmbeddings(t.Context(), openai.EmbeddingRequestStrings{
		Input: texts, Model: "mock-1", EncodingFormat: openai.EmbeddingEncodingFormatBase64,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if !slices.Equal(coded.Data[i].Embedding, numbers.Data[i].Embedding) {
			t.Errorf("%q differs by its encoding", texts[i])
		}
	}
	short, err := client.CreateEmbeddings(t.Context(), openai.EmbeddingRequest{Input: texts[0], Model: "mock-1", Dimensions: 32})
	if err != nil || len(short.Data) != 1 || len(short.Data[0].Embedding) != 32 {
		t.Errorf("one text in 32 dimensions: %d %v", len(short.Data), err)
	}
}

// likeness is the cosine of two texts' vectors.
func likeness(a, b string) float64 {
	x, y := embed("m", a, dimensionsDefault), embed("m", b, dimensionsDefault)
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// TestTextsAlikeAreNear compares a text with others, from the likest to the least.
func TestTextsAlikeAreNear(t *testing.T) {
	const text = "The gardens of Lisbon are quiet in winter"
	last := 1.0000001
	for _, other := range []string{
		text, "the GARDENS of Lisbon are quiet, in winter!", "In winter the gardens of Lisbon are quiet", "Gardens in Lisbon during a quiet winter",
		"A garden in the summer", "Stock prices fell sharply on Monday",
	} {
		near := likeness(text, other)
		if near > last+1e-6 {
			t.Errorf("%q is %.3f like, more than the one before with %.3f", other, near, last)
		}
		last = near
	}
	if last > 0.2 {
		t.Errorf("a text about something else is %.3f like", last)
	}
	if a, b := likeness("dog bites man", "dog bites man"), likeness("dog bites man", "man bites dog"); b >= a || b < 0.5 {
		t.Errorf("the order of words makes %.3f of %.3f", b, a)
	}
}

// TestVectorsAreUnit: of any text, in any size.
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
