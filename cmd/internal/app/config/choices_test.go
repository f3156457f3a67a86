package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopyChoices checks that the user's choices are copied, and no data of runs.
func TestCopyChoices(t *testing.T) {
	src, dst := t.TempDir(), t.TempDir()
	if err := Save(src, map[string]string{"retries": "3"}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		ConnectorsName: "connectors: {}\n", filepath.Join(PopulationsName, "town.jsonl"): "{}\n", "throng.db": "runs",
	} {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := CopyChoices(dst, src); err != nil {
		t.Fatal(err)
	}
	if saved, err := LoadSaved(dst); err != nil || saved["retries"] != "3" {
		t.Errorf("settings %v %v", saved, err)
	}
	if text, err := os.ReadFile(filepath.Join(dst, ConnectorsName)); err != nil || string(text) != "connectors: {}\n" {
		t.Errorf("connectors %q %v", text, err)
	}
	for name, there := range map[string]bool{
		filepath.Join(PopulationsName, "town.jsonl"): true, "throng.db": false, PricesName: false,
	} {
		if _, err := os.Stat(filepath.Join(dst, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CopyChoices(t.TempDir(), ""); err != nil {
		t.Errorf("from a missing folder: %v", err)
	}
}
