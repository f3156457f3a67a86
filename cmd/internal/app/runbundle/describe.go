package runbundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine"
)

// describe returns the manifest of a run, without its results and files.
func describe(r *engine.RunRecord) *Manifest {
	build := about.Read()
	m := &Manifest{
		Format: Format, Run: r.ID, Title: r.Title, Name: r.Name, Created: r.Created.UTC(), Bundled: time.Now().UTC().Truncate(time.Second),
		Throng: build.String(), Go: build.Go, System: build.System, Scenario: r.Source.Name, Hash: r.Source.Hash, Parameters: map[string]json.RawMessage{},
		Seed: r.Settings.Seed, Ending: r.Ending.String(), Sessions: r.Done, Exact: r.Inexact == nil, Recorded: r.Settings.Record,
	}
	for name, text := range r.Source.Parameters {
		m.Parameters[name] = json.RawMessage(text)
	}
	return m
}

// Replayable reports whether the run can be replayed, unless it was changed by hand.
func (m *Manifest) Replayable() bool { return m.Recorded && m.Ending == engine.EndFinished.String() }

// Kept says what can be done with the bundle.
func (m *Manifest) Kept() string {
	switch {
	case m.Replayable():
		return "The run was recorded: it can be verified, opened and replayed."
	case m.Recorded:
		return "The run was recorded, but has not finished: it can be verified and opened, and replayed once it is resumed to its end."
	default:
		return "The run was not recorded: it can be verified and opened, but not replayed. To record the next run: throngctl run --record"
	}
}

// sources returns the files of the scenario by their names in the bundle.
func sources(r *engine.RunRecord) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(r.Source.Files)) { // if two have the same name, always the same one
		if shown := strings.ReplaceAll(name, ":", "/"); shown == path.Clean(shown) && filepath.IsLocal(shown) {
			all[sourceFolder+shown] = r.Source.Files[name]
		}
	}
	return all
}

// misdescribed lists what a manifest says of its run that is not so.
func (m *Manifest) misdescribed(r *engine.RunRecord) (all []string, err error) {
	want := describe(r)
	// Only the manifest knows these.
	want.Format, want.Bundled, want.Throng, want.Go, want.System, want.Results, want.Files = m.Format, m.Bundled, m.Throng, m.Go, m.System, m.Results, m.Files
	is, err := facts(m)
	if err != nil {
		return nil, err
	}
	facts, err := facts(want)
	if err != nil {
		return nil, err
	}
	names := maps.Clone(facts)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch was, there := facts[name]; {
		case !there:
			all = append(all, name+" (unknown to the run)")
		case is[name] == "":
			all = append(all, name+" (missing)")
		case is[name] != was:
			all = append(all, fmt.Sprintf("%s (%s, but the run has %s)", name, is[name], was))
		}
	}
	return append(all, m.otherSources(r)...), nil
}

// facts returns the values of a manifest by name, as JSON.
func facts(m *Manifest) (map[string]string, error) {
	all := map[string]string{}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	delete(values, "parameters")
	for name, value := range m.Parameters {
		values["parameter "+name] = value
	}
	for name, value := range values {
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return nil, err
		}
		all[name] = compact.String()
	}
	return all, nil
}

// otherSources lists files of the scenario that are not those of the run.
func (m *Manifest) otherSources(r *engine.RunRecord) (all []string) {
	files := sources(r)
	for _, f := range m.Files {
		if !strings.HasPrefix(f.Name, sourceFolder) {
			continue
		}
		text, ok := files[f.Name]
		sum := sha256.New()
		sum.Write(text)
		if !ok || f != newFile(f.Name, int64(len(text)), sum) {
			all = append(all, f.Name)
		}
		delete(files, f.Name)
	}
	return append(all, slices.Sorted(maps.Keys(files))...)
}

// readme returns a note for readers of the bundle.
func readme(m *Manifest) string {
	text := fmt.Sprintf(`This is a bundle of a Throng run: %s (%s), made on %s.

  throngctl bundle verify FILE    check that nothing was changed, recompute its figures and results, and replay it if it was recorded
  throngctl bundle open FILE      add the run to your own store, to read, export, compare, resume or fork it
`, m.Title, m.Run, m.Bundled.Format(time.DateOnly))
	if m.Replayable() {
		text += fmt.Sprintf("  throngctl run --replay %s\n                                  after bundle open: replay the run without a network\n", m.Run)
	}
	text += "\n" + m.Kept() + "\n"
	return text + fmt.Sprintf(`
%[1]s says what is in it. %[2]s has the files of the scenario; agents drawn from a large file are in %[2]srun/population.csv.
%[3]s is the store (SQLite) with the settings, the journal, the recorded answers and a population that a model wrote.

The files under "results" in %[1]s are not in the bundle: verify recomputes them from the journal. After bundle open, you can
write and check them yourself:

  throngctl export %[4]s --what sessions | sha256sum
  throngctl export %[4]s --what events | sha256sum
  throngctl export %[4]s --what memory | sha256sum
`, manifestName, sourceFolder, storeName, m.Run)
}
