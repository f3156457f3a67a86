package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzPersonas reads any bytes as a file of personas. The personas that it returns can be read again, and more can be added.
func FuzzPersonas(f *testing.F) {
	f.Add(`{"request":"a","index":0,"persona":{"name":"Ann"}}` + "\n")
	f.Add(`{"request":"a","index":0,"persona":{"name":"Ann"}}` + "\n" + `{"request":"b","per`)
	f.Add("\n\n[]\nnull\n" + `{"request":"b","persona":[]}` + "\n" + `{"request":"c","persona":{"a":<}}` + "\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "populations", "town.jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := openPersonas(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.add(keptPersona{"new", 7, json.RawMessage(`{"name":"<é>"}`)}); err != nil {
			t.Fatal(err)
		}
		if err := k.close(); err != nil {
			t.Fatal(err)
		}
		again, _, err := readPersonas(path)
		if err != nil || len(again.known) != len(k.known) || string(again.known["new"]) != `{"name":"<é>"}` {
			t.Fatalf("got %v, %v, want %v", again, err, k.known)
		}
		kept, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(kept), text[:strings.LastIndex(text, "\n")+1]) {
			t.Fatalf("a complete line is lost: %q of %q, %v", kept, text, err)
		}
	})
}

// TestPersonasOfTwoProcesses checks that the second process waits for the first.
func TestPersonasOfTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "populations", "town.jsonl")
	first, err := openPersonas(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.add(keptPersona{"a", 0, json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	told := ""
	second, err := openPersonas(t.Context(), path, func(why string) {
		told = why
		if err := first.close(); err != nil {
			t.Error(err)
		}
	})
	if err != nil || told == "" || len(second.known) != 1 {
		t.Fatalf("got %v, %v, messages %q", second, err, told)
	}
	if err := second.close(); err != nil {
		t.Error(err)
	}
}
