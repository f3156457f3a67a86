package answer

import (
	"github.com/throng-sim/throng/cmd/internal/app/runbundle"
	"github.com/throng-sim/throng/engine"
)

// Bundle is a bundle that was made or opened.
type Bundle struct {
	File string `json:"file"`
	runbundle.Manifest
}

// BundleCheck is the result of checking a bundle, whose files are as it lists them.
type BundleCheck struct {
	File          string       `json:"file"`
	Run           engine.RunID `json:"run"`
	Sound         bool         `json:"sound"`
	Files         int          `json:"files"`
	Figures       int          `json:"figures"` // recomputed from the journal
	FiguresDiffer int          `json:"figures_differ"`
	Changed       []string     `json:"changed,omitempty"` // results that are not those of the time when the bundle was made
	Replayed      bool         `json:"replayed"`
	NotReplayed   string       `json:"not_replayed,omitempty"`   // why
	ReplayDiffers []string     `json:"replay_differs,omitempty"` // results of the replay that are not those of the run
}
