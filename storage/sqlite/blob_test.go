package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestBlobs(t *testing.T) {
	folder := newFolder()
	for _, raw := range []string{"", "short", string(bytes.Repeat([]byte("long "), 1000))} {
		blob := fold([]byte("before"), []byte(raw), folder)
		got, err := unfold(blob[len("before"):])
		if err != nil || string(got) != raw {
			t.Errorf("got %q, %v, want %q", got, err, raw)
		}
	}
	if n := len(fold(nil, bytes.Repeat([]byte("long "), 1000), folder)); n > 100 {
		t.Errorf("5,000 bytes of nothing new take %d", n)
	}
	for _, blob := range []string{"", "\x00", "\x07text", "\x02no zstd"} {
		if _, err := unfold([]byte(blob)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: got %v, want ErrDamaged", blob, err)
		}
	}
	var v engine.State
	if err := decode([]byte("\x01no cbor"), &v); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

// TestBlobsNoticeLostBits flips each bit of a blob in turn: what is read is as it was written, or an error.
func TestBlobsNoticeLostBits(t *testing.T) {
	var raw []byte
	for i := range 60 {
		raw = fmt.Appendf(raw, "agent %d paid %d; ", i, i*i)
	}
	blob := fold(nil, raw, newFolder())
	if blob[0] != compressed {
		t.Fatal("it is not compressed")
	}
	for bit := range 8 * len(blob) {
		blob[bit/8] ^= 1 << (bit % 8)
		switch got, err := unfold(blob); {
		case err == nil && !bytes.Equal(got, raw):
			t.Errorf("bit %d of byte %d was lost, and it reads as %.60q…", bit%8, bit/8, got)
		case err != nil && !errors.Is(err, ErrDamaged):
			t.Errorf("got %v, want ErrDamaged", err)
		}
		blob[bit/8] ^= 1 << (bit % 8)
	}
}
