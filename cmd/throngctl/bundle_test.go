package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/runbundle"
)

// bundled makes a bundle of the newest run of a data folder.
func bundled(t *testing.T, data string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.zip")
	if code, _, stderr := ctl(t, "bundle", "-o", path, "--data", data); code != 0 {
		t.Fatalf("bundle: code %d, %s", code, stderr)
	}
	return path
}

// TestBundleOfAName makes a bundle of a run with a name and many sessions, and checks that a file is kept if it exists, and that a run that
// was not recorded says so.
func TestBundleOfAName(t *testing.T) {
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "run.zip")
	if code, _, stderr := ctl(t, "run", "world", "--data", data, "--cycles", "120", "--mock-latency", "none", "--no-dashboard"); code != 0 {
		t.Fatalf("run: code %d, %s", code, stderr)
	}
	if code, _, stderr := ctl(t, "name", "--data", data, newest(t, data), "Friday"); code != 0 {
		t.Fatalf("name: code %d, %s", code, stderr)
	}
	code, out, stderr := ctl(t, "bundle", "Friday", "-o", path, "--data", data)
	if code != 0 || !strings.Contains(out, "1,200 sessions") || !strings.Contains(out, "not replayed. To record the next run: throngctl run --record") {
		t.Errorf("bundle: code %d, %s%s", code, out, stderr)
	}
	whole := read(t, path)
	for _, o := range []string{"-o", "--out"} {
		code, _, stderr = ctl(t, "bundle", o, path, "--data", data)
		if code != 2 || !strings.Contains(stderr, "run.zip already exists (nothing was written; choose another file with -o)") || read(t, path) != whole {
			t.Errorf("over a file: code %d, %s", code, stderr)
		}
	}
	code, out, stderr = ctl(t, "bundle", "open", path, "--data", t.TempDir())
	if code != 0 || !strings.Contains(out, "1,200 sessions") || !strings.Contains(out, "throngctl bundle verify "+path) || strings.Contains(out, "--replay") {
		t.Errorf("open: code %d, %s%s", code, out, stderr)
	}
	if code, _, stderr = ctl(t, "run", path, "--data", data); code != 2 || !strings.Contains(stderr, "is a bundle of a run, not a scenario (add the run to the store: throngctl bundle open") {
		t.Errorf("run of a bundle: code %d, %s", code, stderr)
	}
}

// TestBundleOfAnUnfinishedRun checks that a bundle of a recorded run that was stopped is as sound as another, and why it cannot be replayed.
func TestBundleOfAnUnfinishedRun(t *testing.T) {
	data := t.TempDir()
	ctl(t, "run", "world", "--data", data, "--record", "--cycles", "6", "--mock-latency", "none", "--max-requests", "30")
	path := filepath.Join(data, "run.zip")
	if code, out, stderr := ctl(t, "bundle", "-o", path, "--data", data); code != 0 || !strings.Contains(out, "has not finished") {
		t.Fatalf("bundle: code %d, %s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "bundle", "verify", path, "--data", data); code != 0 || !strings.Contains(out, "not possible: run "+newest(t, data)+" out of budget, so its recording is incomplete") {
		t.Errorf("verify: code %d, %s%s", code, out, stderr)
	}
}

// checkResults checks that the manifest of a bundle lists the digests of what export writes, and the values of parameters as they are.
func checkResults(t *testing.T, path, data string) {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = archive.Close() })
	f, err := archive.Open("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Parameters map[string]any
		Results    []runbundle.File
	}
	if err := json.NewDecoder(f).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Parameters["pairs"] != 3.0 || m.Parameters["provider"] != "mock" || len(m.Results) != 3 {
		t.Errorf("the manifest has parameters %v and %d results", m.Parameters, len(m.Results))
	}
	for _, f := range m.Results {
		what, _, _ := strings.Cut(f.Name, ".")
		code, out, stderr := ctl(t, "export", "--what", what, "--data", data)
		sum := sha256.Sum256([]byte(out))
		if code != 0 || f.Bytes != int64(len(out)) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %d bytes, %s; exported (code %d, %s): %d bytes, %x", f.Name, f.Bytes, f.SHA256, code, stderr, len(out), sum)
		}
	}
}

// resultsOf returns the sessions, events and memory of the newest run of a data folder.
func resultsOf(t *testing.T, data string) (all string) {
	t.Helper()
	for _, what := range []string{"sessions", "events", "memory"} {
		code, out, stderr := ctl(t, "export", "--what", what, "--data", data)
		if code != 0 {
			t.Fatalf("export: code %d, %s", code, stderr)
		}
		all += out
	}
	return all
}

// changed returns a copy of a bundle. edit changes the content of a file of it; with agree, the manifest has its new digest.
func changed(t *testing.T, path, name string, agree bool, edit func(text []byte) []byte) string {
	t.Helper()
	from, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	contents := map[string][]byte{}
	for _, f := range from.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if contents[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	contents[name] = edit(contents[name])
	if agree {
		var m runbundle.Manifest
		if err := json.Unmarshal(contents["manifest.json"], &m); err != nil {
			t.Fatal(err)
		}
		for i := range m.Files {
			if f := &m.Files[i]; f.Name == name {
				sum := sha256.Sum256(contents[name])
				f.Bytes, f.SHA256 = int64(len(contents[name])), hex.EncodeToString(sum[:])
			}
		}
		if contents["manifest.json"], err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range contents {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "changed.zip")
	if err := os.WriteFile(to, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// edited returns a store after a statement.
func edited(t *testing.T, store []byte, statement string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "throng.db")
	if err := os.WriteFile(path, store, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{statement, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBundleMovesARun stops a run in its middle, opens its bundle in a store that has other runs, resumes it there, and compares the
// result with that of a run that nothing disturbed.
func TestBundleMovesARun(t *testing.T) {
	here, there, whole := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(data string, more ...string) {
		t.Helper()
		args := append([]string{"run", "world", "--data", data, "--cycles", "6", "--seed", "3", "--mock-latency", "none", "--max-concurrent", "4"}, more...)
		if code, _, stderr := ctl(t, args...); code != 0 && len(more) == 0 {
			t.Fatalf("run: code %d, %s", code, stderr)
		}
	}
	run(whole)
	run(there)
	run(here, "--max-requests", "30")
	path := bundled(t, here)
	if code, out, stderr := ctl(t, "bundle", "verify", path, "--data", there); code != 0 || !strings.Contains(out, "all equal") || !strings.Contains(out, "not recorded") {
		t.Errorf("verify: code %d, %s%s", code, out, stderr)
	}
	if code, _, stderr := ctl(t, "bundle", "open", path, "--data", there); code != 0 {
		t.Fatalf("open: code %d, %s", code, stderr)
	}
	if resultsOf(t, there) != resultsOf(t, here) {
		t.Error("the run that was opened has other results")
	}
	if code, _, stderr := ctl(t, "bundle", "open", path, "--data", there); code != 2 || !strings.Contains(stderr, "already") {
		t.Errorf("opened again: code %d, %s", code, stderr)
	}
	if code, _, stderr := ctl(t, "resume", "--data", there, "--max-requests", "0"); code != 0 {
		t.Fatalf("resume: code %d, %s", code, stderr)
	}
	if got, want := resultsOf(t, there), resultsOf(t, whole); got != want {
		t.Error("the run that was resumed elsewhere has another result")
	}
}

// TestBundleIsReplayed replays a recorded run from its bundle, and checks that a changed bundle is noticed.
func TestBundleIsReplayed(t *testing.T) {
	data := t.TempDir()
	if code, _, stderr := ctl(t, "run", "conversation", "--data", data, "--record", "--seed", "5", "--set", "pairs=3", "--mock-latency", "none"); code != 0 {
		t.Fatalf("run: code %d, %s", code, stderr)
	}
	path := bundled(t, data)
	verify := func(path string) (code int, all string) {
		t.Helper()
		code, out, stderr := ctl(t, "bundle", "verify", path, "--data", t.TempDir())
		return code, out + stderr
	}
	if code, all := verify(path); code != 0 || !strings.Contains(all, "the same sessions, events and memory") {
		t.Errorf("the bundle: code %d, %s", code, all)
	}
	checkResults(t, path, data)
	there := t.TempDir()
	code, out, stderr := ctl(t, "bundle", "open", path, "--data", there)
	replay := "throngctl run --replay " + newest(t, there)
	if code != 0 || !strings.Contains(out, "throngctl bundle verify "+path) || !strings.Contains(out, replay) {
		t.Errorf("open: code %d, %s%s", code, out, stderr)
	}
	checkResults(t, path, there)
	if code, _, stderr := ctl(t, append(strings.Fields(replay)[1:], "--data", there)...); code != 0 {
		t.Errorf("%s: code %d, %s", replay, code, stderr)
	}
	const store = "throng.db"
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	for _, tt := range []struct {
		name, file string
		agree      bool
		edit       func([]byte) []byte
		code       int
		want       string
	}{
		{"a changed store", store, false, flip, 1, "throng.db was changed"},
		{"a changed scenario", "scenario/conversation.yaml", false, flip, 1, "conversation.yaml was changed"},
		{"another file", "mock/more.log", false, func([]byte) []byte { return []byte("x") }, 1, "not in its list"},
		{"no manifest", "manifest.json", false, func([]byte) []byte { return []byte("{") }, 1, "manifest.json"},
		{"a newer format", "manifest.json", false, func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"format": 2`), []byte(`"format": 9`), 1)
		}, 1, "format 9"},
		{"fewer sessions", store, true, func(text []byte) []byte { return edited(t, text, `UPDATE runs SET done = done - 1`) }, 1, "differ in sessions (3, but the run has 2)"},
		{"another seed", "manifest.json", false, func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"seed": 5`), []byte(`"seed": 6`), 1)
		}, 1, "differ in seed (6, but the run has 5)"},
		{"a lost session", store, true, func(text []byte) []byte {
			return edited(t, text, `DELETE FROM sessions WHERE pos = (SELECT max(pos) FROM sessions)`)
		}, 1, "different: sessions.csv"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, all := verify(changed(t, path, tt.file, tt.agree, tt.edit)); code != tt.code || !strings.Contains(all, tt.want) {
				t.Errorf("code %d, %s; want %d and %q", code, all, tt.code, tt.want)
			}
		})
	}
	planted := changed(t, path, store, true, func(text []byte) []byte {
		return edited(t, text, `CREATE TRIGGER mine AFTER INSERT ON runs BEGIN DELETE FROM runs; END`)
	})
	if code, _, stderr := ctl(t, "bundle", "open", planted, "--data", t.TempDir()); code == 0 || !strings.Contains(stderr, "tables are not those") {
		t.Errorf("a store with a trigger: code %d, %s", code, stderr)
	}
	cut := read(t, path)
	if err := os.WriteFile(path, []byte(cut[:len(cut)-100]), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, all := verify(path); code != 1 || !strings.Contains(all, "its end is missing") {
		t.Errorf("a bundle that is cut off: code %d, %s", code, all)
	}
}

// TestBundleKeepsPrivateAnswers checks that private answers of an open cycle are not packed.
func TestBundleKeepsPrivateAnswers(t *testing.T) {
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "secret.yaml")
	text := "population: {count: 3}\nservices:\n  shop: {kind: http, url: 'mock:shop'}\nchain visit:\n  step look: {kind: http, service: shop, get: /api/products/search, query: {query: tea}, private: true}\n" +
		"  step again: {kind: http, service: shop, get: /api/products/search, query: {query: tea}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, said := ctl(t, "run", path, "--data", data, "--max-requests", "1", "--max-concurrent", "1")
	if code, _, stderr := ctl(t, "bundle", "--data", data, "-o", filepath.Join(data, "b.zip")); code != 2 || !strings.Contains(stderr, "private steps (look)") {
		t.Errorf("code %d, %s (the run said %s)", code, stderr, said)
	}
	if _, err := os.Stat(filepath.Join(data, "b.zip")); err == nil {
		t.Error("a file was written")
	}
}
