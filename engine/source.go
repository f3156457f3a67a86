package engine

import "strings"

// Source is what a run was made from: kept with it, so that it can be resumed when the file has gone or changed.
type Source struct {
	Name       string            // base name of the scenario file
	Files      map[string][]byte // by path relative to the scenario's folder; what begins with OwnFiles is no file of it
	Hash       string            // of all files, hex
	Parameters map[string]string // as given, by name; values are JSON texts
	// Path is where the file was on this machine, or [BuiltIn] and its name; "" is not known. It is for this machine only.
	Path string `json:"-" cbor:"-"`
}

// BuiltIn stands before the name of a scenario that came with the program, in a path.
const BuiltIn = "built-in:"

// What a run takes from elsewhere stands among the files of its source, under names that no scenario can open.
const (
	OwnFiles       = "run:"
	OnlyChain      = OwnFiles + "chain"           // the name of the chain that is run alone
	ConnectorsFile = OwnFiles + "connectors.yaml" // the connectors of the settings, if the scenario uses one of them
	PayloadFiles   = OwnFiles + "payload/"        // before the name of the payload's file
	MockedSteps    = OwnFiles + "mocked"          // what the mock answers in place of, a line for each
)

// Alone returns the name of the chain that is run alone; "" is that the scenario runs as a whole.
func (s *Source) Alone() string { return string(s.Files[OnlyChain]) }

// Mocked lists the connectors and functions that the scenario does not define, such as "connector summarizer": the
// mock answered in their place.
func (s *Source) Mocked() []string {
	text := string(s.Files[MockedSteps])
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
