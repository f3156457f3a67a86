package service

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestExpressionsSeeNoVaryingHeaders lists the headers that remain in an answer.
func TestExpressionsSeeNoVaryingHeaders(t *testing.T) {
	h := http.Header{}
	for _, name := range append(slices.Clone(varying), "X-RateLimit-Remaining", "X-Rate-Limit-Reset", "RateLimit-Limit", "RateLimit", "RateLimit-Policy",
		"anthropic-ratelimit-requests-reset", "anthropic-ratelimit-input-tokens-limit", "ETag", "Location", "Content-Type", "X-Rate") {
		h.Set(name, "1")
	}
	a := newAnswer(&http.Response{StatusCode: 200, Header: h}, nil)
	if got, want := slices.Sorted(maps.Keys(a.Header)), []string{"Content-Type", "Etag", "Location", "X-Rate"}; !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
}

func TestAnswersComeBackFromTheJournal(t *testing.T) {
	value := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }) // not only UTF-8
	rapid.Check(t, func(t *rapid.T) {
		a := &Answer{
			Status: rapid.IntRange(100, 599).Draw(t, "status"),
			Header: rapid.MapOf(rapid.String(), rapid.SliceOfN(value, 1, 3)).Draw(t, "header"),
			Body:   rapid.SliceOfN(rapid.Byte(), 1, -1).Draw(t, "body"),
		}
		b, err := decodeAnswer(encodeAnswer(a))
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v came back as %+v, %v", a, b, err)
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add(encodeAnswer(&Answer{Status: 200, Header: http.Header{"A": {"b"}}, Body: []byte("x")}))
	f.Add([]byte{answerVersion})
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := decodeAnswer(data); err == nil && a.Header == nil {
			t.Error("an answer without headers")
		}
	})
}

// TestAnAnswerOfManyHeaders checks that an answer of as many headers as fit into a response can be read from the journal.
func TestAnAnswerOfManyHeaders(t *testing.T) {
	header := http.Header{}
	for n, size := 0, 0; size < maxHeader; n++ {
		name := strconv.FormatInt(int64(n), 36)
		header[name] = []string{""}
		size += len(name + ":\r\n")
	}
	for _, h := range []http.Header{header, {"A": make([]string, maxHeader/len("A:\r\n"))}} {
		kept, err := decodeAnswer(encodeAnswer(&Answer{Status: 200, Header: h}))
		if err != nil || !maps.EqualFunc(kept.Header, h, slices.Equal) {
			t.Errorf("%d headers: error %v", len(h), err)
		}
	}
}
