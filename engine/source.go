package engine

import "strings"

// Source is what a run was made from. It is stored with the run, so that the run can resume if the file is deleted or
// changed.
type Source struct {
	Name       string            // base name of the scenario file
	Files      map[string][]byte // by path relative to the scenario's folder; names that begin with OwnFiles are added by the engine
	Hash       string            // of all files, hex
	Parameters map[string]string // by name; values are JSON texts
	// Path is the location of the file on this machine, or [BuiltIn] and its name; "" if unknown. It is not stored.
	Path string `json:"-" cbor:"-"`
	// Baseline is what the scenario says without changes. Stores keep it with the run.
	Baseline Baseline `json:"-" cbor:"-"`
}

// BuiltIn is the path prefix of a scenario that ships with the program.
const BuiltIn = "built-in:"

// Additional inputs of a run are stored as files of its source, under names that no scenario can open.
const (
	OwnFiles       = "run:"
	OnlyChain      = OwnFiles + "chain"           // name of the chain that runs alone
	ConnectorsFile = OwnFiles + "connectors.yaml" // connectors of the settings, if the scenario uses one
	PayloadFiles   = OwnFiles + "payload/"        // prefix of the payload's file name
	MockedSteps    = OwnFiles + "mocked"          // undefined connectors and functions that the mock replaces, one per line
	DrawnRows      = OwnFiles + "population.csv"  // the agents that were drawn from a file too large to be stored
	DrawnReport    = OwnFiles + "population.json" // how they were drawn
)

// Alone returns the name of the chain that runs alone, or "" if the whole scenario runs.
func (s *Source) Alone() string { return string(s.Files[OnlyChain]) }

// Mocked lists the connectors and functions that the scenario does not define, such as "connector summarizer". The
// mock answers for them.
func (s *Source) Mocked() []string {
	text := string(s.Files[MockedSteps])
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
