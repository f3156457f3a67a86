package blob

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestBlobs(t *testing.T) {
	encoder := NewEncoder()
	for _, raw := range []string{"", "short", string(bytes.Repeat([]byte("long "), 1000))} {
		blob := Pack([]byte("before"), []byte(raw), encoder)
		got, err := Unpack(blob[len("before"):])
		if err != nil || string(got) != raw {
			t.Errorf("got %q, %v, want %q", got, err, raw)
		}
	}
	if n := len(Pack(nil, bytes.Repeat([]byte("long "), 1000), encoder)); n > 100 {
		t.Errorf("5,000 bytes of nothing new take %d", n)
	}
	for _, blob := range []string{"", "\x00", "\x07text", "\x02no zstd"} {
		if _, err := Unpack([]byte(blob)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: got %v, want ErrDamaged", blob, err)
		}
	}
	var v engine.State
	if err := Unmarshal([]byte("\x01no cbor"), &v); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

// TestBlobsNoticeLostBits flips each bit of a blob in turn, and checks that reading returns the original or an error.
func TestBlobsNoticeLostBits(t *testing.T) {
	var raw []byte
	for i := range 60 {
		raw = fmt.Appendf(raw, "agent %d paid %d; ", i, i*i)
	}
	blob := Pack(nil, raw, NewEncoder())
	if blob[0] != compressed {
		t.Fatal("the blob is not compressed")
	}
	for bit := range 8 * len(blob) {
		blob[bit/8] ^= 1 << (bit % 8)
		switch got, err := Unpack(blob); {
		case err == nil && !bytes.Equal(got, raw):
			t.Errorf("bit %d of byte %d was lost, and it reads as %.60q…", bit%8, bit/8, got)
		case err != nil && !errors.Is(err, ErrDamaged):
			t.Errorf("got %v, want ErrDamaged", err)
		}
		blob[bit/8] ^= 1 << (bit % 8)
	}
}
