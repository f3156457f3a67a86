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

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header // without what varies from one time to the next
	Body   []byte

	wait     time.Duration // what Retry-After says
	named    bool          // there was one
	replayed bool          // the service says that it had carried out the request before
	quota    pace.Quota    // that the service says it has left
	bucket   string        // that the service counts the request in, as it says; "" is that it does not
	global   bool          // it refuses all requests, as it says
}

// newAnswer takes a response whose body was read.
func newAnswer(resp *http.Response, body []byte) *Answer {
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, replayed: isReplay(resp.Header)}
	if holdsBack(a.Header) {
		now, err := http.ParseTime(a.Header.Get("Date")) // its own clock, if it says what that shows
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

// holdsBack reports whether headers say when the service may be asked again, or how often.
func holdsBack(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Retry-After") || ofRateLimits(name) {
			return true
		}
	}
	return false
}

// varying are headers that differ from one time to the next though the answer is the same. No expression may see
// them, and neither those of rate limits.
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

// keptAnswer is an answer in the journal, behind a version byte.
type keptAnswer struct {
	Status int                 `cbor:"1,keyasint"`
	Header map[string][]string `cbor:"2,keyasint,omitempty"`
	Body   []byte              `cbor:"3,keyasint,omitempty"`
}

const answerVersion = 1

// cborMode writes behind what a buffer holds already.
var cborMode = func() cbor.UserBufferEncMode {
	mode, err := cbor.EncOptions{}.UserBufferEncMode()
	if err != nil { // the options are the default's
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
		panic(err) // numbers, texts and bytes cannot fail to encode
	}
	return buf.Bytes()
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
	return &Answer{Status: k.Status, Header: k.Header, Body: k.Body}, nil
}
