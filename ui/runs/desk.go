package runs

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
)

// Desk is what the screen needs from the application. Its methods may take long, except for Busy, Experiment, Fleet and Remote.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Checkpoints returns the checkpoints of a run, newest first.
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	Footprint(ctx context.Context, run engine.RunID) (view.Footprint, error)
	// Delete moves a run to the trash, or deletes it permanently.
	Delete(ctx context.Context, run engine.RunID, d Deletion) error
	// WeighThere counts a run's rows in the configured database.
	WeighThere(ctx context.Context, run engine.RunID) (rows int64, err error)
	// DeleteCheckpoint moves a checkpoint to the trash.
	DeleteCheckpoint(ctx context.Context, run engine.RunID, number int) error
	// Old returns what Prune would delete. Prune moves it to the trash, or deletes it permanently, and returns what it deleted.
	Old(ctx context.Context, age Age) (Old, error)
	Prune(ctx context.Context, age Age, now bool) (Old, error)
	Trash
	Marks
	Queue
	// OpenBundle adds the run of a bundle to the store. The note says more about it.
	OpenBundle(ctx context.Context, path string) (run engine.RunID, note string, err error)
	// Sizes returns how many bytes each run uses in the store.
	Sizes(ctx context.Context) (map[engine.RunID]int64, error)
	// Resume resumes a run from the end of its journal and returns a note on it. The error is *Changed if the meaning of its scenario has
	// changed, *LockedError if secrets are missing, and *HadWorkers if it is not decided what executes the sessions.
	Resume(ctx context.Context, run engine.RunID, how Resumption) (note string, err error)
	// ResumeFrom starts a fork that continues from a checkpoint with the scenario and settings of its run, which stays as it is. It returns a
	// note on the fork. Errors are as for Resume.
	ResumeFrom(ctx context.Context, run engine.RunID, checkpoint int, how Resumption) (note string, err error)
	// Fleet lets workers of other computers join. It does not wait.
	Fleet() fleet.Host
	// KeepSecret stores a secret in the system's keychain or, without one, until the program ends.
	KeepSecret(ctx context.Context, name, value string) error
	// ExportAs writes a run's results into a new folder inside dir, or a report or bundle into a new file there, and returns the path. The
	// format is one of the package export.
	ExportAs(ctx context.Context, run engine.RunID, dir, format string) (string, error)
	// Busy returns the run that this process works on; "" if none. It does not wait.
	Busy() engine.RunID
	// Experiment returns the title of the experiment of this process that executes a run; "" if none does. It does not wait.
	Experiment(run engine.RunID) string
	// Send starts sending a run's results to the configured database.
	Send(ctx context.Context, run engine.RunID) error
	// Remote names that database; "" if none. It does not wait.
	Remote() string
	// RemoteRuns returns the runs of all machines in that database, newest first.
	RemoteRuns(ctx context.Context) ([]RemoteRun, error)
	// RemoteCheckpoints returns the checkpoints of a run in that database, newest first.
	RemoteCheckpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	// Fetch copies a checkpoint from that database. It calls told, from any goroutine, with the number of agents whose memory has arrived.
	Fetch(ctx context.Context, run engine.RunID, number int, told func(done, total int)) error
}

// Marks is what the user writes on runs.
type Marks interface {
	// Rename names a run; "" shows the title of its scenario again.
	Rename(ctx context.Context, run engine.RunID, name string) error
	// Tag adds and removes tags.
	Tag(ctx context.Context, run engine.RunID, add, remove []string) error
	Star(ctx context.Context, run engine.RunID, star bool) error
	// Note stores the note on a run.
	Note(ctx context.Context, run engine.RunID, text string) error
}

// Trash is what was deleted and can be restored.
type Trash interface {
	// Trashed returns the contents with their sizes, newest first.
	Trashed(ctx context.Context) ([]Trashed, error)
	// Restore restores a thing from the trash.
	Restore(ctx context.Context, thing Thing) error
	// DeleteTrashed deletes a thing permanently.
	DeleteTrashed(ctx context.Context, thing Thing) error
	// EmptyTrash permanently deletes everything moved to the trash by a moment, and returns the number of things.
	EmptyTrash(ctx context.Context, upTo time.Time) (int, error)
}

// Thing is a run or a checkpoint.
type Thing struct {
	Run        engine.RunID
	Checkpoint int // 0: the run
}

// Trashed is a thing in the trash.
type Trashed struct {
	Thing
	Title    string    // of the run
	Started  time.Time // start of the run
	At       time.Time // when it was deleted
	DaysLeft int       // until it is deleted permanently
	Bytes    int64     // estimated
}
