package runbundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// entry is a file of an archive.
type entry struct{ name, text string }

// small returns the entries of a bundle with two files, the manifest last. It has no store, so a sound one is refused too.
func small(t *testing.T) (all []entry) {
	t.Helper()
	all = []entry{{readmeName, strings.Repeat("Read this first. ", 40)}, {sourceFolder + "a.yaml", "population: {count: 3}\n"}}
	m := Manifest{Format: Format, Run: "20260301-120000-abcd"}
	for _, e := range all {
		sum := sha256.New()
		sum.Write([]byte(e.text))
		m.Files = append(m.Files, newFile(e.name, int64(len(e.text)), sum))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, entry{manifestName, string(text)})
}

// archived returns a ZIP archive.
func archived(t *testing.T, all []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range all {
		f, err := w.Create(e.name)
		if err == nil {
			_, err = f.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// opened returns the error of opening an archive.
func opened(t *testing.T, archive []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), path)
	if err == nil {
		t.Fatal(errors.Join(errors.New("it was opened"), b.Close()))
	}
	return err
}

// TestDamagedFile checks that a changed byte is damage, said once and without the errors of libraries, wherever it is.
func TestDamagedFile(t *testing.T) {
	whole := archived(t, small(t))
	if err := opened(t, whole); err.Error() != "the bundle is damaged: throng.db is missing; get a new copy of the bundle" {
		t.Fatalf("without a change: %v", err)
	}
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 0xff
		text := opened(t, changed).Error()
		if strings.Count(text, "the bundle is damaged: ") != 1 || !strings.HasSuffix(text, "; get a new copy of the bundle") || strings.Contains(text, "\n") {
			t.Errorf("byte %d of %d: %s", i, len(whole), text)
		}
		for _, word := range []string{"zip:", "flate", "EOF", "offset", "invalid"} {
			if strings.Contains(text, word) {
				t.Errorf("byte %d of %d: %s", i, len(whole), text)
			}
		}
	}
}

// TestWrongFiles checks the errors of archives that have other files than their list.
func TestWrongFiles(t *testing.T) {
	for want, edit := range map[string]func(all []entry) []entry{
		`"LIESMICH.txt" is not in its list, "README.txt" is missing`: func(all []entry) []entry { all[0].name = "LIESMICH.txt"; return all },
		`"../../evil.txt" is a path outside of the bundle`:           func(all []entry) []entry { return append(all, entry{"../../evil.txt", "x"}) },
		`"README.txt" is there twice`:                                func(all []entry) []entry { return append(all, all[0]) },
		`"manifest.json" is there twice`:                             func(all []entry) []entry { return append(all, all[2]) },
		`README.txt was changed`:                                     func(all []entry) []entry { all[0].text = "Read"; return all },
		`manifest.json was changed`:                                  func(all []entry) []entry { all[2].text = "{"; return all },
		`manifest.json is missing`:                                   func(all []entry) []entry { return all[:2] },
		`"1" is not in its list, "2" is not in its list, "3" is not in its list, and 1 more`: func(all []entry) []entry {
			return append(all, entry{"1", ""}, entry{"2", ""}, entry{"3", ""}, entry{"4", ""})
		},
	} {
		err := opened(t, archived(t, edit(small(t))))
		if !errors.Is(err, ErrDamaged) || err.Error() != "the bundle is damaged: "+want+"; get a new copy of the bundle" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestOtherFormats checks that bundles of other versions are not called damaged.
func TestOtherFormats(t *testing.T) {
	for text, want := range map[string]string{`{"format": 1}`: "make it again", `{"format": 9, "throng_version": "7.1"}`: "written by Throng 7.1"} {
		err := opened(t, archived(t, []entry{{manifestName, text}}))
		if errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestMisdescribed changes each value of a manifest that the run knows.
func TestMisdescribed(t *testing.T) {
	record := engine.RunRecord{
		ID: "20260301-120000-abcd", Title: "Tea", Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Ending: engine.EndFinished, Done: 7,
		Source: engine.Source{Name: "a.yaml", Hash: "ab", Parameters: map[string]string{"n": "3", "who": `"Ada"`}, Files: map[string][]byte{"a.yaml": []byte("x"), "run:chain": []byte("y")}},
	}
	sound := func() *Manifest {
		m := describe(&record)
		for name, text := range sources(&record) {
			sum := sha256.New()
			sum.Write(text)
			m.Files = append(m.Files, newFile(name, int64(len(text)), sum))
		}
		slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
		m.Throng, m.Go, m.System, m.Bundled = "0.0.1", "1.0", "another", time.Time{}
		return m
	}
	for want, edit := range map[string]func(m *Manifest){
		"":                                     func(*Manifest) {},
		"seed (2, but the run has 0)":          func(m *Manifest) { m.Seed = 2 },
		`title ("Tee", but the run has "Tea")`: func(m *Manifest) { m.Title = "Tee" },
		"name (unknown to the run)":            func(m *Manifest) { m.Name = "mine" },
		`created ("2026-03-01T12:00:01Z", but the run has "2026-03-01T12:00:00Z")`: func(m *Manifest) { m.Created = m.Created.Add(time.Second) },
		`scenario ("b.yaml", but the run has "a.yaml")`:                            func(m *Manifest) { m.Scenario = "b.yaml" },
		`scenario_hash ("cd", but the run has "ab")`:                               func(m *Manifest) { m.Hash = "cd" },
		"parameter n (4, but the run has 3)":                                       func(m *Manifest) { m.Parameters["n"] = json.RawMessage("4") },
		"parameter who (missing)":                                                  func(m *Manifest) { delete(m.Parameters, "who") },
		`ending ("stopped", but the run has "finished")`:                           func(m *Manifest) { m.Ending = "stopped" },
		"sessions (8, but the run has 7)":                                          func(m *Manifest) { m.Sessions = 8 },
		"exact (false, but the run has true)":                                      func(m *Manifest) { m.Exact = false },
		"recorded (true, but the run has false)":                                   func(m *Manifest) { m.Recorded = true },
		"scenario/a.yaml":                                                          func(m *Manifest) { m.Files[0].SHA256 = "cd" },
		"scenario/run/chain":                                                       func(m *Manifest) { m.Files = m.Files[:1] },
		"scenario/b.yaml":                                                          func(m *Manifest) { m.Files = append(m.Files, File{Name: "scenario/b.yaml"}) },
	} {
		m := sound()
		edit(m)
		if all, err := m.misdescribed(&record); err != nil || strings.Join(all, "; ") != want {
			t.Errorf("got %q, %v; want %q", all, err, want)
		}
	}
}

// TestKept checks the sentence about replaying a bundle, in the terminal and in its README.txt.
func TestKept(t *testing.T) {
	for want, m := range map[string]Manifest{
		"opened and replayed.":   {Recorded: true, Ending: engine.EndFinished.String()},
		"resumed to its end.":    {Recorded: true, Ending: engine.NotEnded.String()},
		"throngctl run --record": {Ending: engine.EndFinished.String()},
	} {
		if got := m.Kept(); !strings.HasSuffix(got, want) || !strings.Contains(readme(&m), got) || m.Replayable() != strings.Contains(readme(&m), "run --replay") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCheckScenario checks that archives are refused as scenarios, and other files are not.
func TestCheckScenario(t *testing.T) {
	for want, text := range map[string]string{
		"":                             "population: {count: 3}\n",
		"is a bundle of a run":         string(archived(t, small(t))),
		"is a ZIP archive, not a scen": string(archived(t, small(t)[:2])),
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckScenario(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := CheckScenario(filepath.Join(t.TempDir(), "shopping")); err != nil {
		t.Errorf("a name of a built-in scenario: %v", err)
	}
}
