package blob

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine/codec"
)

// MaxForeign bounds the size of a decompressed part of a foreign checkpoint, and of the files of its scenario.
const MaxForeign = 256 << 20

// ErrForeign says that data from a remote database is damaged or incomplete.
var ErrForeign = errors.New("the checkpoint in the database is damaged or incomplete")

// foreignDecoder decompresses data from a remote database, which other programs may have written to. Its memory is limited.
var foreignDecoder = sync.OnceValue(func() *zstd.Decoder {
	return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxForeign)))
})

// UnpackForeign is like Unpack for data from a remote database. Its errors wrap ErrForeign.
func UnpackForeign(blob []byte) ([]byte, error) {
	if len(blob) == 0 {
		return nil, fmt.Errorf("%w: an empty part", ErrForeign)
	}
	switch blob[0] {
	case plain:
		return blob[1:], nil
	case compressed:
		raw, err := foreignDecoder().DecodeAll(blob[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrForeign, err)
		}
		return raw, nil
	default:
		return nil, fmt.Errorf("%w: unknown format %d", ErrForeign, blob[0])
	}
}

// UnmarshalForeign is like Unmarshal for data from a remote database. Its errors wrap ErrForeign.
func UnmarshalForeign(blob []byte, v any) error {
	raw, err := UnpackForeign(blob)
	if err != nil {
		return err
	}
	if err := codec.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return nil
}
