package sqlite

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
)

// The first byte of a blob says how the rest is kept.
const (
	plain      byte = 1
	compressed byte = 2

	// compressFrom is from which length compressing is tried.
	compressFrom = 160
	// maxBlob bounds what a blob may unfold to.
	maxBlob = 1 << 30
)

var (
	// ErrDamaged says that something in the store cannot be read. It comes after what was found.
	ErrDamaged = fmt.Errorf("a part of it cannot be read: bring the data folder back from a backup, or delete the run: %w", engine.ErrDamaged)

	unfolder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlob))
		if err != nil {
			panic(err)
		}
		return d
	})
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newFolder returns a compressor; each goroutine that writes has its own. What it makes has a checksum, by which a bit
// that the disk lost is found and not taken for a result.
func newFolder() *zstd.Encoder {
	return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<18)))
}

// fold appends the blob of raw to dst.
func fold(dst, raw []byte, e *zstd.Encoder) []byte {
	start := len(dst)
	if len(raw) >= compressFrom {
		dst = e.EncodeAll(raw, append(dst, compressed))
		if len(dst)-start <= len(raw) {
			return dst
		}
		dst = dst[:start]
	}
	return append(append(dst, plain), raw...)
}

// unfold returns what fold was given. The result may share memory with blob.
func unfold(blob []byte) ([]byte, error) {
	if len(blob) == 0 {
		return nil, ErrDamaged
	}
	switch blob[0] {
	case plain:
		return blob[1:], nil
	case compressed:
		raw, err := unfolder().DecodeAll(blob[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		return raw, nil
	default:
		return nil, fmt.Errorf("unknown format %d: %w", blob[0], ErrDamaged)
	}
}

// encode returns the blob of a record.
func encode(v any, e *zstd.Encoder) ([]byte, error) {
	raw, err := codec.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fold(nil, raw, e), nil
}

// decode is the inverse of encode.
func decode(blob []byte, v any) error {
	raw, err := unfold(blob)
	if err != nil {
		return err
	}
	if err := codec.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return nil
}

// segments calls f with each row of a pack and the pack's base time.
func segments(blob []byte, f func(c codec.Cursor, base int64) error) error {
	raw, err := unfold(blob)
	if err != nil {
		return err
	}
	return asDamaged(codec.Rows(raw, f))
}

// asDamaged makes of an error in decoding one of the store.
func asDamaged(err error) error {
	if errors.Is(err, codec.ErrDamaged) {
		return ErrDamaged
	}
	return err
}
