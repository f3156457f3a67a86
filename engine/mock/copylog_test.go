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
)

func TestCopyLogCopiesUpToTheBarrier(t *testing.T) {
	dir := t.TempDir()
	src := Config{Seed: 6, Log: filepath.Join(dir, "src.log")}
	s := indoors(t, src)
	var states []string
	for cycle := range 6 {
		states = append(states, s.state())
		for i := range 4 {
			user := fmt.Sprint("user-", i)
			s.ask(ask{user: user, method: "POST", path: "/api/cart/items", body: s.productJSON(cycle*7+i, 2), tag: stamp(cycle, "add", 1), key: fmt.Sprint("a", cycle)})
			s.ask(ask{user: user, method: "POST", path: "/api/orders", tag: stamp(cycle, "order", 1), key: fmt.Sprint("o", cycle)})
		}
	}
	states = append(states, s.state())
	// The source is in use and ends in an incomplete record.
	half := append(readFile(t, src.Log), 40, 0, 0, 0, 1, 2)
	writeFile(t, src.Log, half)
	for barrier, want := range states {
		dst := Config{Seed: 6, Log: filepath.Join(dir, fmt.Sprint("fork-", barrier))}
		if err := CopyLog(dst.Log, src.Log, barrier); err != nil {
			t.Fatal(err)
		}
		fork := indoors(t, dst)
		if got := fork.state(); got != want {
			t.Errorf("a fork before cycle %d has the state\n%s\nwant\n%s", barrier, got, want)
		}
		if err := fork.log.close(); err != nil {
			t.Fatal(err)
		}
		if err := CopyLog(dst.Log, src.Log, barrier); !errors.Is(err, fs.ErrExist) {
			t.Errorf("copied over an existing log: %v", err)
		}
	}
	if !bytes.Equal(readFile(t, src.Log), half) {
		t.Error("the source was changed")
	}
	if err := s.log.close(); err != nil {
		t.Fatal(err)
	}
}

func TestCopyLogLeavesNoIncompleteFile(t *testing.T) {
	dir := t.TempDir()
	dst, src := filepath.Join(dir, "dst"), filepath.Join(dir, "src")
	if err := CopyLog(dst, src, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no source: %v", err)
	}
	content, ends, _ := writtenLog(t, 20)
	content[ends[3]+frameHead] ^= 1
	writeFile(t, src, content)
	if err := CopyLog(dst, src, 99); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged source: %v", err)
	}
	writeFile(t, src, []byte(logMagic))
	if err := CopyLog(dst, src, 1); err != nil {
		t.Errorf("a source without settings: %v", err)
	}
	if s := indoors(t, Config{Log: dst}); s.state() != "" || s.log.close() != nil {
		t.Error("its copy is not an empty log")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left in the folder: %v %v", entries, err)
	}
}
