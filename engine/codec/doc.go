// Package codec is the binary form of what a run writes: the same bytes in the journal on disk and on the wire to a worker.
//
// A pack is a base time (varint, microseconds) and rows. A row is its length and its body, which starts with the agent and the take.
// Newer versions add fields at the end of the body, which older versions ignore. Records other than rows are CBOR.
package codec

import (
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine"
)

// ErrDamaged is returned for data that cannot be decoded.
var ErrDamaged = fmt.Errorf("cannot be decoded: %w", engine.ErrDamaged)

var (
	encoding = must(cbor.EncOptions{ShortestFloat: cbor.ShortestFloat16}.EncMode())
	// Errors and answers may contain texts of services that are not UTF-8.
	decoding = must(cbor.DecOptions{MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32, UTF8: cbor.UTF8DecodeInvalid}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Marshal returns the CBOR of a record.
func Marshal(v any) ([]byte, error) { return encoding.Marshal(v) }

// Unmarshal reads the CBOR of a record.
func Unmarshal(data []byte, v any) error { return decoding.Unmarshal(data, v) }
