package service

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

// keptAnswer is an answer in the journal, behind a version byte.
type keptAnswer struct {
	Status int                 `cbor:"1,keyasint"`
	Header map[string][]string `cbor:"2,keyasint,omitempty"`
	Body   []byte              `cbor:"3,keyasint,omitempty"`
}

const answerVersion = 1

func encodeAnswer(a *Answer) []byte {
	data, err := cbor.Marshal(keptAnswer{a.Status, a.Header, a.Body})
	if err != nil { // numbers, texts and bytes cannot fail to encode
		panic(err)
	}
	return append([]byte{answerVersion}, data...)
}

func decodeAnswer(data []byte) (*Answer, error) {
	if len(data) == 0 || data[0] != answerVersion {
		return nil, errors.New("it is in an unknown format")
	}
	var k keptAnswer
	if err := cbor.Unmarshal(data[1:], &k); err != nil {
		return nil, err
	}
	if k.Header == nil {
		k.Header = http.Header{}
	}
	return &Answer{k.Status, k.Header, k.Body}, nil
}

// steadyHeader drops the headers that vary from one time to the next: no expression may see them. Those that the
// transport needs itself (Retry-After) stay until an answer is kept.
func steadyHeader(h http.Header) http.Header {
	steady := make(http.Header, len(h))
	for name, values := range h {
		switch {
		case name == "Date", name == "Idempotency-Replayed", name == "Age", name == "Connection", name == "Keep-Alive",
			strings.HasPrefix(name, "X-Ratelimit-"):
		default:
			steady[name] = values
		}
	}
	return steady
}
