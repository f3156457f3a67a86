package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/throng-sim/throng/engine/service/llm"
)

// Embedding is a request for the vectors of texts.
type Embedding struct {
	Header     http.Header // by canonical names; the client owns it from here on
	Model      string
	Texts      []string
	Dimensions int // 0 is the model's default
}

// Body returns the request as JSON.
func (e *Embedding) Body() ([]byte, error) {
	return llm.Encode(e.fields())
}

func (e *Embedding) fields() []llm.Field {
	all := []llm.Field{{Name: "input", Value: e.Texts}, {Name: "model", Value: e.Model}, {Name: "encoding_format", Value: "float"}}
	if e.Dimensions > 0 {
		all = append(all, llm.Field{Name: "dimensions", Value: e.Dimensions})
	}
	return all
}

// Bytes returns the length of the texts, in bytes.
func (e *Embedding) Bytes() (n int) {
	for _, text := range e.Texts {
		n += len(text)
	}
	return n
}

// ReadVectors reads the vectors of want texts from the body of a response, in the order of the texts. All have the same length.
// Its error is an [llm.Error] if the service reports one.
func ReadVectors(body []byte, want int) ([][]float32, error) {
	var r struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the embeddings cannot be read: %w", err)
	}
	if err := errorIn(body); err != nil {
		return nil, err
	}
	if len(r.Data) != want {
		return nil, fmt.Errorf("%d embeddings for %d texts", len(r.Data), want)
	}
	vectors := make([][]float32, want)
	for _, d := range r.Data {
		if d.Index < 0 || d.Index >= want || vectors[d.Index] != nil || len(d.Embedding) == 0 {
			return nil, errors.New("the embeddings are not one for each text")
		}
		vectors[d.Index] = d.Embedding
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("embeddings of %d and of %d numbers in one answer", len(vectors[0]), len(v))
		}
	}
	return vectors, nil
}
