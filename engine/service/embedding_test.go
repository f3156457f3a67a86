package service

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/pricing"
)

func vectorsOf(vectors ...string) reply {
	return ok200(`{"object":"list","data":[` + strings.Join(vectors, ",") + `],"usage":{"prompt_tokens":8,"total_tokens":8}}`)
}

func vector(index int, numbers string) string {
	return fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, index, numbers)
}

// TestEmbeddings checks responses to two texts.
func TestEmbeddings(t *testing.T) {
	tests := []struct {
		name     string
		answers  []reply
		want     string
		class    engine.Class
		attempts int
		says     string
	}{
		{"in order", []reply{vectorsOf(vector(0, "1,2"), vector(1, "3,4"))}, "[[1 2] [3 4]]", engine.NoError, 1, ""},
		{"by index", []reply{vectorsOf(vector(1, "3,4"), vector(0, "1,2"))}, "[[1 2] [3 4]]", engine.NoError, 1, ""},
		{"429", []reply{{status: 429, header: map[string]string{"Retry-After": "1"}}, vectorsOf(vector(0, "1"), vector(1, "3"))}, "[[1] [3]]", engine.NoError, 1, ""},
		{"too few", []reply{vectorsOf(vector(0, "1"))}, "", engine.BadAnswer, 5, "1 embeddings for 2 texts"},
		{"too few at first", []reply{vectorsOf(vector(0, "1")), vectorsOf(vector(0, "1"), vector(1, "3"))}, "[[1] [3]]", engine.NoError, 2, ""},
		{"too many", []reply{vectorsOf(vector(0, "1"), vector(1, "1"), vector(2, "1"))}, "", engine.BadAnswer, 5, "3 embeddings for 2 texts"},
		{"one twice", []reply{vectorsOf(vector(0, "1"), vector(0, "2"))}, "", engine.BadAnswer, 5, "not one for each text"},
		{"of another", []reply{vectorsOf(vector(0, "1"), vector(2, "2"))}, "", engine.BadAnswer, 5, "not one for each text"},
		{"below", []reply{vectorsOf(vector(0, "1"), vector(-1, "2"))}, "", engine.BadAnswer, 5, "not one for each text"},
		{"empty", []reply{vectorsOf(vector(0, "1"), vector(1, ""))}, "", engine.BadAnswer, 5, "not one for each text"},
		{"of two lengths", []reply{vectorsOf(vector(0, "1,2"), vector(1, "1"))}, "", engine.BadAnswer, 5, "embeddings of 2 and of 1 numbers in one answer"},
		{"no JSON", []reply{ok200("?")}, "", engine.BadAnswer, 5, "cannot be read"},
		{"texts", []reply{vectorsOf(vector(0, `"a"`), vector(1, `"b"`))}, "", engine.BadAnswer, 5, "cannot be read"},
		{"an error", []reply{ok200(`{"error":{"message":"no such model","code":404}}`)}, "", engine.ClientError, 5, "no such model"},
		{"404", []reply{{status: 404, body: "no such model"}}, "", engine.ClientError, 1, "no such model"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: tt.answers}
				l := models(t, fake, LLMConfig{Prices: pricing.Prices{"small": {Input: 1e-6}}})
				var got [][]float32
				row := stage{}.play(t, func(s *engine.Session) {
					call := callOf(s, "step")
					var err error
					got, err = l.Embed(call, openai.Embedding{Header: http.Header{}, Model: "small", Texts: []string{"one", "two"}, Dimensions: 2})
					end(s, call, err)
				})
				said := ""
				if got != nil {
					said = fmt.Sprint(got)
				}
				rec := row.Steps[0]
				if said != tt.want || row.Class != tt.class || rec.Attempts != tt.attempts || !strings.Contains(row.Error, tt.says) {
					t.Errorf("%s, class %q, %d attempts: %s", said, row.Class, rec.Attempts, row.Error)
				}
				want := engine.Usage{Calls: 1, Input: 8, Cost: 8000}
				if tt.name == "too few at first" { // it was charged too
					want.Add(&want)
				}
				if tt.want != "" && *rec.Usage != want {
					t.Errorf("usage %+v", rec.Usage)
				}
				r := fake.requests()[0]
				for _, part := range []string{`"input":["one","two"]`, `"model":"small"`, `"dimensions":2`, `"encoding_format":"float"`} {
					if !strings.Contains(r.body, part) || r.url != "http://model.example/v1/embeddings" {
						t.Errorf("sent %s to %s, without %s", r.body, r.url, part)
					}
				}
			})
		})
	}
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte(vectorsOf(vector(1, "3,4"), vector(0, "1,2")).body))
	f.Add([]byte(`{"data":[{"index":9223372036854775807,"embedding":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := openai.ReadVectors(body, 2)
		if err == nil && (len(got) != 2 || slices.ContainsFunc(got, func(v []float32) bool { return len(v) == 0 })) {
			t.Errorf("%v", got)
		}
	})
}
