// Package wizard is the dialog that makes a scenario of a user's own backend: from a document at an address, a file, curl commands or a
// recording to a file that the editor opens.
package wizard

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
)

// Source is what a scenario is made from.
type Source struct {
	Place string // an address, or the path of a file; "" for Text
	Text  []byte // curl commands or a recording
}

// Request asks for a draft.
type Request struct {
	Source
	Second *Source // a second recording of the same journey; nil if there is none
	Users  string  // path of a CSV or JSONL file with the users of a login; "" for none
	CA     string  // path of a file with PEM certificates to trust; "" for those of the system
}

// Found is a draft.
type Found struct {
	*importer.Draft
	Recorded bool // it was made from requests, so that a second recording helps
}

// Plan is what saving a draft would do.
type Plan struct {
	Exists bool             // the file exists
	Merged *importer.Merged // what would become of it; nil unless Exists
}

// Saved is a scenario that was written.
type Saved struct {
	File   string   // name of the scenario
	Unkept []string // secrets that the keychain could not store
}

// Recording is a request to record.
type Recording struct {
	Listen string // host and port
	Target string // address of the backend
	CA     string // as in [Request]
}

// Exchange is a recorded request.
type Exchange struct {
	Request string // method and path
	Status  int    // 0 if there was no answer
	Failure string // why there was no answer; "" if that is not known
	Took    time.Duration
}

// Recorder is a recording in progress.
type Recorder interface {
	// Address is what a client uses in place of the backend's address.
	Address() string
	// Trouble says why the backend did not answer when the recording began; "" if it did.
	Trouble() string
	// Stop ends the recording and returns what was recorded. It may be called once.
	Stop() (Source, error)
}

// Desk is what the wizard needs from the application. Its methods may take long.
type Desk interface {
	// Accepts reports whether a scenario can be made from a file.
	Accepts(path string) bool
	// Read reads a source.
	Read(ctx context.Context, r Request) (*Found, error)
	// Chain returns the chain of a scenario with a text and files, for display.
	Chain(ctx context.Context, text []byte, files []importer.File) (engine.Graph, error)
	// Propose returns the path of a new file for a scenario with a title.
	Propose(ctx context.Context, title string) string
	// Plan checks where a draft would be saved. It writes nothing.
	Plan(ctx context.Context, d *importer.Draft, path string) (Plan, error)
	// Known returns where secrets are found, by name.
	Known(ctx context.Context, names []string) map[string]string
	// Save writes a draft as a scenario, and its secrets that have a value to the keychain.
	Save(ctx context.Context, d *importer.Draft, path string) (Saved, error)
	// Record starts a recording. each is called for every exchange, on any goroutine.
	Record(ctx context.Context, r Recording, each func(Exchange)) (Recorder, error)
}
