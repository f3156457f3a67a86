package mock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// writtenLog writes a log of some records. It returns the content, the end of each record (the first is the end of the settings), and the
// state at each end.
func writtenLog(t *testing.T, requests int) (content []byte, ends []int, states []string) {
	t.Helper()
	cfg := Config{Seed: 4, Log: filepath.Join(t.TempDir(), "shop.log")}
	s := indoors(t, cfg)
	walk := &shopping{shop: s, source: draw.Key{}.Text("written").Source()}
	ends, states = []int{len(readFile(t, cfg.Log))}, []string{s.state()}
	for range requests {
		s.ask(walk.next())
		content = readFile(t, cfg.Log)
		if len(content) > ends[len(ends)-1] {
			ends, states = append(ends, len(content)), append(states, s.state())
		}
	}
	if err := s.log.close(); err != nil {
		t.Fatal(err)
	}
	return content, ends, states
}

func TestTornTailIsCutOffAtEveryByte(t *testing.T) {
	content, ends, states := writtenLog(t, 25)
	cfg := Config{Seed: 4, Log: filepath.Join(t.TempDir(), "torn.log")}
	whole := 0
	for size := range len(content) + 1 {
		for whole+1 < len(ends) && ends[whole+1] <= size {
			whole++
		}
		writeFile(t, cfg.Log, content[:size])
		s := indoors(t, cfg)
		if got := s.state(); got != states[whole] {
			t.Fatalf("cut at byte %d: state\n%s\nwant that after %d records\n%s", size, got, whole, states[whole])
		}
		lost := size - ends[whole]
		if size < ends[0] { // cut within the settings
			lost = size
		}
		if (s.Lost() != "") != (lost > 0) || lost > 0 && !strings.Contains(s.Lost(), fmt.Sprintf("its last %d bytes", lost)) {
			t.Fatalf("cut at byte %d: lost %d bytes, reports %q", size, lost, s.Lost())
		}
		if got := len(readFile(t, cfg.Log)); got != ends[whole] {
			t.Fatalf("cut at byte %d: %d bytes are left, want %d", size, got, ends[whole])
		}
		// The next record must follow directly.
		s.ask(ask{user: "next", method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1)})
		if err := s.log.close(); err != nil {
			t.Fatal(err)
		}
		after := indoors(t, cfg)
		if got, want := after.state(), s.state(); got != want {
			t.Fatalf("cut at byte %d and continued: state\n%s\nwant\n%s", size, got, want)
		}
		if err := after.log.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTailOfZerosIsCutOff(t *testing.T) {
	content, ends, states := writtenLog(t, 10)
	cfg := Config{Seed: 4, Log: filepath.Join(t.TempDir(), "zeros.log")}
	for _, zeros := range []int{1, 7, 8, 4096, 3 * windowBytes} {
		writeFile(t, cfg.Log, append(bytes.Clone(content), make([]byte, zeros)...))
		s := indoors(t, cfg)
		if got := len(readFile(t, cfg.Log)); got != ends[len(ends)-1] || s.state() != states[len(states)-1] {
			t.Errorf("%d zeros: %d bytes are left, want %d", zeros, got, ends[len(ends)-1])
		}
		if err := s.log.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageIsAnErrorAtEveryByte changes each byte before the last record, and checks that the log is rejected and left
// unchanged.
func TestDamageIsAnErrorAtEveryByte(t *testing.T) {
	content, ends, _ := writtenLog(t, 30)
	path := filepath.Join(t.TempDir(), "damaged.log")
	for at := range ends[len(ends)-2] {
		damaged := bytes.Clone(content)
		damaged[at] ^= []byte{1, 0x80, 0xff}[at%3]
		writeFile(t, path, damaged)
		_, err := Start(Config{Seed: 4, Log: path})
		if err == nil {
			t.Fatalf("byte %d changed: no error", at)
		}
		for _, hint := range []string{path, "damaged", "checkpoint"} {
			if at >= len(logMagic) && !strings.Contains(err.Error(), hint) {
				t.Fatalf("byte %d changed: %v does not mention %q", at, err, hint)
			}
		}
		if !bytes.Equal(readFile(t, path), damaged) {
			t.Fatalf("byte %d changed: the file was touched", at)
		}
	}
}

// TestDamageOfALargeTail checks that a bad record followed by more than one write can contain is damage, whatever
// follows.
func TestDamageOfALargeTail(t *testing.T) {
	content, _, _ := writtenLog(t, 3)
	path := filepath.Join(t.TempDir(), "tail.log")
	writeFile(t, path, append(content, bytes.Repeat([]byte{0xaa}, 10_000)...))
	if _, err := Start(Config{Seed: 4, Log: path}); err == nil {
		t.Error("10,000 strange bytes were cut off")
	}
}

func TestStartRefusesForeignLogs(t *testing.T) {
	newer := appendFrame([]byte(logMagic), func(b []byte) []byte { return append(b, byte(opSettings), logVersion+1) })
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"another seed", appendSettings(nil, 5), "seed 5"},
		{"a text", []byte("my notes"), "not the log of a mock shop"},
		{"a short text", []byte("a"), "not the log of a mock shop"},
		{"a newer format", append(newer, make([]byte, 40)...), "format 2"},
	} {
		path := filepath.Join(t.TempDir(), "shop.log")
		writeFile(t, path, c.content)
		_, err := Start(Config{Seed: 4, Log: path})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
		if !bytes.Equal(readFile(t, path), c.content) {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
	if _, err := Start(Config{Log: filepath.Join(t.TempDir(), "no", "such", "folder")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// failingFile fails on demand.
type failingFile struct {
	*os.File
	write, truncate error
	partly          int
}

func (f *failingFile) Write(b []byte) (int, error) {
	if f.write == nil {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:min(f.partly, len(b))])
	return n, errors.Join(err, f.write)
}

func (f *failingFile) Truncate(size int64) error {
	return errors.Join(f.truncate, f.File.Truncate(size))
}

// TestUnwritableLogChangesNothing fills the disk in the middle of a record, then frees it.
func TestUnwritableLogChangesNothing(t *testing.T) {
	cfg := Config{Seed: 4, Log: filepath.Join(t.TempDir(), "shop.log")}
	s := indoors(t, cfg)
	order := ask{user: "ann", method: "POST", path: "/api/orders", key: "o", session: someID(1), tag: stamp(1, "order", 1)}
	s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1), tag: stamp(1, "add", 1)})
	before := s.state()
	f := &failingFile{File: s.log.file.(*os.File), write: &fs.PathError{Op: "write", Path: cfg.Log, Err: errors.New("disk full")}, partly: 11}
	s.log.file = f
	for _, a := range []ask{
		order,
		{user: "ann", method: "POST", path: "/api/cart/items", key: "refused", tag: stamp(1, "x", 1)},
		{user: "ann", method: "GET", path: "/api/cart", session: someID(2), tag: stamp(1, "x", 1)},
	} {
		if g := s.ask(a); g.status != 429 || g.header.Get("Retry-After") != "1" ||
			g.body != `{"detail":"The mutation log cannot be written: disk full"}` {
			t.Errorf("%s %s on a full disk: %d %s", a.method, a.path, g.status, g.body)
		}
	}
	if got := s.state(); got != before {
		t.Errorf("the state changed to\n%s\nfrom\n%s", got, before)
	}
	if g := s.ask(ask{user: "bob", method: "GET", path: "/api/stores"}); g.status != 200 {
		t.Errorf("reading on a full disk: %d", g.status)
	}
	f.write = nil
	if g := s.ask(order); g.status != 201 || g.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the order after the disk was freed: %d %s", g.status, g.body)
	}
	again := indoors(t, cfg)
	if got, want := again.state(), s.state(); got != want {
		t.Errorf("replayed\n%s\nwant\n%s", got, want)
	}
	f.write, f.truncate = errors.New("disk full"), errors.New("disk gone")
	if g := s.ask(ask{user: "ann", method: "DELETE", path: "/api/cart"}); g.status != 429 {
		t.Errorf("on a broken disk: %d", g.status)
	}
	f.write, f.truncate = nil, nil
	if g := s.ask(ask{user: "ann", method: "DELETE", path: "/api/cart"}); g.status != 429 {
		t.Errorf("after half a record: %d, want 429 permanently", g.status)
	}
	if err := errors.Join(again.log.close(), s.log.close()); err != nil {
		t.Fatal(err)
	}
}

// FuzzLog reads any bytes as a log: it never panics, and a second reading returns the same.
func FuzzLog(f *testing.F) {
	s := build(Config{Seed: 4}, testClock(nil))
	log := appendSettings(nil, 4)
	f.Add([]byte{}, true)
	f.Add(log, false)
	for _, c := range []change{
		{op: opSession, user: "ann", claims: true, store: 3},
		{op: opAdd, user: "ann", line: line{3, 2}, keyed: true, era: era{cycle: 2, tagged: true, at: 7}},
		{op: opCoupon, user: "ann", coupon: 3},
		{op: opOrder, user: "ann"},
		{op: opRefused, user: "bob", keyed: true, status: 404, detail: "Product not found"},
	} {
		log = appendFrame(log, c.append)
		f.Add(bytes.Clone(log), false)
		f.Add(c.append(nil), true)
	}
	f.Add(append(bytes.Clone(log), 1, 2, 3), false)
	f.Fuzz(func(t *testing.T, data []byte, bodyOnly bool) {
		if bodyOnly { // past the checksum, which a fuzzer cannot guess
			if c, err := parseChange(data); err == nil {
				s.redo(c)
				if back := c.append(nil); len(back) > len(data) {
					t.Errorf("%x reads as %+v, which is longer: %x", data, c, back)
				}
			}
			return
		}
		read := func(data []byte) (int64, string, error) {
			r := bytes.NewReader(data)
			if _, begun, err := scanSettings(r, r.Size()); err != nil || !begun {
				return 0, "", err
			}
			s := build(Config{Seed: 4}, testClock(nil))
			end, err := scan(r, r.Size(), s.redo)
			return end, s.state(), err
		}
		end, state, err := read(data)
		if err != nil {
			return
		}
		if end < 0 || end > int64(len(data)) {
			t.Fatalf("ends at %d of %d", end, len(data))
		}
		if end2, state2, err := read(data[:end]); err != nil || end2 != end || state2 != state {
			t.Fatalf("read again: ends at %d, then at %d, %v", end, end2, err)
		}
	})
}
