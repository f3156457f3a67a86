package service

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine/internal/pace"
)

// Answer is a response with its body.
type Answer struct {
	Status int
	Header http.Header // without headers that vary from one response to the next
	Body   []byte

	wait     time.Duration // from Retry-After
	named    bool          // Retry-After is present
	replayed bool          // the service says that it carried out the request earlier
	quota    pace.Quota    // what the service says is left
	bucket   string        // bucket that the service counts the request in; "" if it does not say
	global   bool          // the service says that it throttles all requests
}

// newAnswer makes an Answer of a response whose body was read.
func newAnswer(resp *http.Response, body []byte) *Answer {
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, replayed: isReplay(resp.Header)}
	if hasLimits(a.Header) {
		now, err := http.ParseTime(a.Header.Get("Date")) // the service's clock, if the response has it
		if err != nil {
			now = time.Now()
		}
		a.wait, a.named = waitOf(a.Header, now)
		a.quota = quotaOf(a.Header, now)
		a.bucket, a.global = bucketOf(a.Header)
	}
	dropVarying(a.Header)
	return a
}

// hasLimits reports whether headers say when the service may be called again, or how often.
func hasLimits(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Retry-After") || ofRateLimits(name) {
			return true
		}
	}
	return false
}

// varying are headers that differ between equal responses. Expressions must not see them, nor those of rate limits.
var varying = []string{
	"Age", "Alt-Svc", "Cf-Ray", "Connection", "Date", "Idempotency-Replayed", "Idempotent-Replayed", "Keep-Alive", "Retry-After", "Retry-After-Ms",
	"Server-Timing", "Traceparent", "Tracestate", "X-Amzn-Requestid", "X-Amzn-Trace-Id", "X-Correlation-Id", "X-Request-Id",
	"X-Response-Time", "X-Runtime",
}

func dropVarying(h http.Header) {
	for name := range h {
		if slices.Contains(varying, name) || ofRateLimits(name) {
			delete(h, name)
		}
	}
}

// keptAnswer is a response in the journal, after a version byte. Values of headers are any bytes.
type keptAnswer struct {
	Status int                 `cbor:"1,keyasint"`
	Header map[string][]string `cbor:"2,keyasint,omitempty"`
	Body   []byte              `cbor:"3,keyasint,omitempty"`
}

const answerVersion = 1

// cborMode appends to a buffer.
var cborMode = func() cbor.UserBufferEncMode {
	mode, err := cbor.EncOptions{}.UserBufferEncMode()
	if err != nil { // the options are the defaults
		panic(err)
	}
	return mode
}()

// answerMode reads texts with any bytes, and as many headers as a response may have.
var answerMode = func() cbor.DecMode {
	mode, err := cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxMapPairs: maxHeader, MaxArrayElements: maxHeader}.DecMode()
	if err != nil { // the options are constant
		panic(err)
	}
	return mode
}()

func encodeAnswer(a *Answer) []byte {
	size := len(a.Body) + 32
	for name, values := range a.Header {
		size += len(name) + 4
		for _, v := range values {
			size += len(v) + 2
		}
	}
	buf := bytes.NewBuffer(make([]byte, 0, size))
	buf.WriteByte(answerVersion)
	if err := cborMode.MarshalToBuffer(keptAnswer{a.Status, a.Header, a.Body}, buf); err != nil {
		panic(err) // numbers, strings and bytes always encode
	}
	return buf.Bytes()
}

func decodeAnswer(data []byte) (*Answer, error) {
	if len(data) == 0 || data[0] != answerVersion {
		return nil, errors.New("it is in an unknown format")
	}
	var k keptAnswer
	if err := answerMode.Unmarshal(data[1:], &k); err != nil {
		return nil, err
	}
	if k.Header == nil {
		k.Header = http.Header{}
	}
	return &Answer{Status: k.Status, Header: k.Header, Body: k.Body}, nil
}
