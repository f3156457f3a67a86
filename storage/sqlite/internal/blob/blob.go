// Package blob encodes records and packs of rows as compressed bytes with a checksum.
package blob

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
)

// The first byte of a blob is the format of the rest.
const (
	plain      byte = 1
	compressed byte = 2

	// minCompressed is the length from which compression is tried.
	minCompressed = 160
	// maxBlob bounds the size of a decompressed blob.
	maxBlob = 1 << 30
)

var (
	// ErrDamaged says that a part of the store cannot be read. Errors that wrap it begin with the cause.
	ErrDamaged = fmt.Errorf("a part of it cannot be read: restore the data folder from a backup, or delete the run: %w", engine.ErrDamaged)

	decoder = sync.OnceValue(func() *zstd.Decoder {
		return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlob)))
	})
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// NewEncoder returns a compressor for use by one goroutine. Its output has a checksum, so that a bit that the disk lost is
// detected.
func NewEncoder() *zstd.Encoder {
	return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<18)))
}

// Pack appends the blob of raw to dst.
func Pack(dst, raw []byte, e *zstd.Encoder) []byte {
	start := len(dst)
	if len(raw) >= minCompressed {
		dst = e.EncodeAll(raw, append(dst, compressed))
		if len(dst)-start <= len(raw) {
			return dst
		}
		dst = dst[:start]
	}
	return append(append(dst, plain), raw...)
}

// Unpack returns the bytes that were passed to Pack. The result may share memory with blob.
func Unpack(blob []byte) ([]byte, error) {
	if len(blob) == 0 {
		return nil, ErrDamaged
	}
	switch blob[0] {
	case plain:
		return blob[1:], nil
	case compressed:
		raw, err := decoder().DecodeAll(blob[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		return raw, nil
	default:
		return nil, fmt.Errorf("unknown format %d: %w", blob[0], ErrDamaged)
	}
}

// Marshal returns the blob of a record.
func Marshal(v any, e *zstd.Encoder) ([]byte, error) {
	raw, err := codec.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Pack(nil, raw, e), nil
}

// MustMarshal is like Marshal for records that cannot fail, such as texts and numbers. It panics on an error.
func MustMarshal(v any, e *zstd.Encoder) []byte { return must(Marshal(v, e)) }

// Unmarshal is the inverse of Marshal.
func Unmarshal(blob []byte, v any) error {
	raw, err := Unpack(blob)
	if err != nil {
		return err
	}
	if err := codec.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return nil
}

// Rows calls f with each row of a pack and the pack's base time.
func Rows(blob []byte, f func(c codec.Cursor, base int64) error) error {
	raw, err := Unpack(blob)
	if err != nil {
		return err
	}
	return AsDamaged(codec.Rows(raw, f))
}

// AsDamaged turns an error of the codec into ErrDamaged.
func AsDamaged(err error) error {
	if errors.Is(err, codec.ErrDamaged) {
		return ErrDamaged
	}
	return err
}

// RawSize returns the size of the unpacked blob, or the size of the blob if its header does not tell.
func RawSize(blob []byte) int {
	var h zstd.Header
	if len(blob) == 0 || blob[0] != compressed || h.Decode(blob[1:]) != nil || !h.HasFCS {
		return len(blob)
	}
	return int(min(h.FrameContentSize, maxBlob))
}
