package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Embedding asks for the vectors of texts.
type Embedding struct {
	Header     http.Header // by canonical names; belongs to the client from here on
	Model      string
	Texts      []string
	Dimensions int // 0 is the model's
}

// Embed carries out a call for embeddings, a vector for each text in their order, and counts what it took. Its errors
// are those of [HTTP.Do].
func (l *LLM) Embed(call *Call, e Embedding) ([][]float32, error) {
	var vectors [][]float32
	call.Accept = func(a *Answer) (err error) {
		if a.Status/100 == 2 {
			vectors, err = readVectors(a.Body, len(e.Texts))
			call.bill.took(tokensOf(a.Body), 0, err)
		}
		return err
	}
	call.bill = &bill{from: l, model: e.Model, asked: e.length(), parts: len(e.Texts)}
	call.Keyless = true
	body, err := encode(e.fields())
	if err == nil {
		_, err = l.Do(call, Request{Method: http.MethodPost, Target: Target{path: "/embeddings"}, Header: jsonHeader(e.Header, "application/json"), Body: body})
	}
	call.charge()
	if err != nil {
		return nil, err
	}
	l.spent(call)
	return vectors, nil
}

func (e *Embedding) fields() []field {
	all := []field{{"input", e.Texts}, {"model", e.Model}, {"encoding_format", "float"}}
	if e.Dimensions > 0 {
		all = append(all, field{"dimensions", e.Dimensions})
	}
	return all
}

func (e *Embedding) length() (n int) {
	for _, text := range e.Texts {
		n += len(text)
	}
	return n
}

func readVectors(body []byte, want int) ([][]float32, error) {
	var r struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the embeddings cannot be read: %w", err)
	}
	if err := told(body); err != nil {
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
	return vectors, nil
}
