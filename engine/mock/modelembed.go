package mock

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
)

const (
	dimensionsDefault, dimensionsMost = 256, 3072
	inputsMost, inputTokensMost       = 2048, 8192
)

type embedAnswer struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

type embedding struct {
	Object string `json:"object"`
	Index  int    `json:"index"`
	Vector any    `json:"embedding"` // numbers, or their bytes in base64
}

// embeddings answers POST /v1/embeddings.
func (x *modelExchange) embeddings() (*reply, *apiError) {
	p, no := readParams(x.body)
	if no != nil {
		return nil, no
	}
	p.need("model", "input")
	answer := embedAnswer{Object: "list", Model: p.text("model")}
	inputs := p.inputs()
	size := int(p.whole("dimensions", 1, dimensionsMost))
	if size == 0 {
		size = dimensionsDefault
	}
	coding := p.text("encoding_format")
	if coding != "" && coding != "float" && coding != "base64" {
		p.refuse(invalid("encoding_format", "invalid_value", "Invalid value: '%s'. Supported values are: float, base64.", coding))
	}
	if *p.mistake != nil {
		return nil, *p.mistake
	}
	if no := x.model.knows(answer.Model); no != nil {
		return nil, no
	}
	for i, text := range inputs {
		one := embedding{Object: "embedding", Index: i}
		if vector := embed(answer.Model, text, size); coding == "base64" {
			one.Vector = inBase64(vector)
		} else {
			one.Vector = vector
		}
		answer.Data = append(answer.Data, one)
		answer.Usage.Prompt += tokens(text)
	}
	answer.Usage.Total = answer.Usage.Prompt
	return &reply{body: encode(answer), prompt: answer.Usage.Prompt, counted: true}, nil
}

// inputs reads one text or a list of texts.
func (p params) inputs() (texts []string) {
	if !p.has("input") {
		return nil
	}
	if raw := p.members["input"]; raw[0] != '[' {
		texts = []string{p.text("input")}
	} else if !p.read("input", "a string or an array of strings", &texts) {
		return nil
	}
	if len(texts) == 0 || len(texts) > inputsMost {
		p.refuse(invalid("input", "invalid_value", "Invalid 'input': 1 to %d texts, got %d.", inputsMost, len(texts)))
	}
	for i, text := range texts {
		switch n := tokens(text); {
		case n == 0:
			p.refuse(invalid(fmt.Sprintf("input[%d]", i), "invalid_value", "Invalid 'input[%d]': the text is empty.", i))
		case n > inputTokensMost:
			p.refuse(invalid(fmt.Sprintf("input[%d]", i), "context_length_exceeded",
				"Invalid 'input[%d]': at most %d tokens, got %d.", i, inputTokensMost, n))
		}
	}
	return texts
}

// The weights of the features that make texts similar: words most, then pairs of words, then pieces of words, so that forms of one word
// are similar.
const (
	weightWord, weightPair, weightPiece = 1.0, 0.7, 0.25
	pieceSize                           = 4
)

// embed returns the unit vector of a text: hashed words, pairs and pieces of words, as in feature hashing (Weinberger and
// others, Feature Hashing for Large Scale Multitask Learning, 2009).
func embed(model, text string, size int) []float32 {
	sum := make([]float64, size)
	root := draw.Key{}.Text("rehearsal embedding").Text(drawName(model))
	add := func(kind, feature string, weight float64) {
		place, sign := root.Text(kind).Text(feature).Sum()
		if sign&1 == 0 {
			weight = -weight
		}
		sum[place%uint64(size)] += weight
	}
	words := strings.FieldsFunc(strings.ToLower(text), notInWord)
	for i, word := range words {
		add("word", word, weightWord)
		if i > 0 {
			add("pair", words[i-1]+" "+word, weightPair)
		}
		padded := []rune(" " + word + " ")
		for from := 0; from+pieceSize <= len(padded); from++ {
			add("piece", string(padded[from:from+pieceSize]), weightPiece)
		}
	}
	if len(words) == 0 {
		add("text", text, 1)
	}
	return unit(sum)
}

// unit scales a vector to length 1. A vector of zeros becomes the first axis.
func unit(sum []float64) []float32 {
	square := 0.0
	for _, v := range sum {
		square += float64(v * v) // not fused, so that it is the same on every processor
	}
	if square < 1e-12 {
		sum[0], square = 1, 1
	}
	vector := make([]float32, len(sum))
	for i, v := range sum {
		vector[i] = float32(v / math.Sqrt(square))
	}
	return vector
}

// inBase64 encodes a vector as little-endian 32-bit numbers.
func inBase64(vector []float32) string {
	b := make([]byte, 0, 4*len(vector))
	for _, v := range vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(b)
}
