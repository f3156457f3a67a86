package scenario

import (
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Extras are additions to a scenario's own files when a run is started. The zero value adds nothing.
type Extras struct {
	Parameters map[string]string // that were set, by name, as written on a command line
	Connectors []byte            // connectors.yaml of the settings, for what the scenario does not define
	Chain      string            // to be run alone, once; "" runs the scenario as a whole
	Payload    *Payload          // what its chains see as input; nil is missing
	Keys       Opener            // opens private keys, to check them: they are not kept with a run; nil does not look
	Data       DataOpener        // opens files of people in pieces; nil reads them whole, like the other files

	also  func(r *reader) // called when all chains are read; nil does nothing
	drawn *keptDraw       // agents that the run stores, which the scenario is read from; nil if there are none
}

// Payload is a file of what chains work on. A list, and every row of a .jsonl or .csv file, is for an agent each; anything
// else is for all of them.
type Payload struct {
	Name string // base name of the file
	Text []byte
}

// Read is [Read] with extras.
func (x Extras) Read(name string, open Opener) (*Scenario, error) {
	return (&reader{name: name, given: x.Parameters, extras: x}).scenario(open)
}

// Load reads a scenario from the disk.
func (x Extras) Load(path string) (*Scenario, error) {
	folder := Folder(filepath.Dir(path))
	x.Keys, x.Data = folder, FolderData(filepath.Dir(path))
	return x.Read(filepath.Base(path), folder)
}

// keep puts an extra among the files that are kept with a run.
func (r *reader) keep(name string, text []byte) { r.s.Source.Files[name] = text }

// kept are the extras of a run that was kept.
func kept(src engine.Source) Extras {
	x := Extras{Chain: src.Alone(), Connectors: src.Files[engine.ConnectorsFile], drawn: keptDrawOf(&src)}
	for name, text := range src.Files {
		if base, ok := strings.CutPrefix(name, engine.PayloadFiles); ok {
			x.Payload = &Payload{Name: base, Text: text}
		}
	}
	return x
}

// alone leaves of a scenario what one chain needs that runs once: an agent for each row of the payload, or one.
func (s *Scenario) alone() {
	s.Cycles, s.WarmUp, s.WarmUpEach, s.Success, s.outside = 1, nil, 0, nil, nil
	s.Clock = s.Clock.Together()
	s.population.filter = nil
	s.Agents = max(len(s.input.rows), 1)
}

// Rows reports whether the scenario's payload has a row for each agent.
func (s *Scenario) Rows() bool { return s.input.rows != nil }
