package mock

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// TestReadLogInPieces reads the log of a running shop in pieces: complete records, all of them, and never an incomplete one at the end.
func TestReadLogInPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.log")
	if data, err := ReadLog(path, 0, 100); data != nil || err != nil {
		t.Errorf("without a log: %q %v", data, err)
	}
	writeFile(t, path, []byte(logMagic)) // killed while it started
	if data, err := ReadLog(path, 0, 100); data != nil || err != nil {
		t.Errorf("a log without settings: %q %v", data, err)
	}
	s := indoors(t, Config{Seed: 6, Log: path})
	var got []byte
	read := func(most int) {
		t.Helper()
		for {
			data, err := ReadLog(path, int64(len(got)), most)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				return
			}
			if len(data) > most+frameHead+maxRecord {
				t.Fatalf("returned %d bytes, requested %d", len(data), most)
			}
			got = append(got, data...)
		}
	}
	for cycle := range 20 {
		s.ask(ask{user: "u", method: "POST", path: "/api/cart/items", body: s.productJSON(cycle, 1), tag: stamp(cycle, "add", 1), key: fmt.Sprint("a", cycle)})
		read(1 + 40*cycle)
	}
	whole := readFile(t, path)
	if !bytes.Equal(got, whole) || int64(len(whole)) <= logStart {
		t.Errorf("read were %d bytes of %d, or others", len(got), len(whole))
	}
	if err := s.log.close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, append(whole, 40, 0, 0, 0, 1, 2))
	read(100)
	if len(got) != len(whole) {
		t.Error("half a record was read")
	}
	if err := CheckLog(path); err != nil {
		t.Errorf("an unfinished record is reported as damage: %v", err)
	}
	whole[logStart+frameHead] ^= 1
	writeFile(t, path, whole)
	if err := CheckLog(path); err == nil {
		t.Error("damage is not found")
	}
}
