package runs

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Desk is what the screen asks for. But for Busy and Remote its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Checkpoints returns a run's, newest first.
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	Doomed(ctx context.Context, run engine.RunID) (Doomed, error)
	// Delete puts a run into the trash, or removes it at once.
	Delete(ctx context.Context, run engine.RunID, d Deletion) error
	// WeighThere counts a run's rows in the configured database.
	WeighThere(ctx context.Context, run engine.RunID) (rows int64, err error)
	// DeleteCheckpoint puts a checkpoint into the trash.
	DeleteCheckpoint(ctx context.Context, run engine.RunID, number int) error
	// Old weighs what is old. Prune puts it into the trash, or removes it at once, and returns what of that there was.
	Old(ctx context.Context, age Age) (Old, error)
	Prune(ctx context.Context, age Age, now bool) (Old, error)
	Trash
	// Resume goes on with a run from the journal's end; note is what else is to be known of that. A *Changed says that
	// its scenario means something else now, a *LockedError that secrets are missing.
	Resume(ctx context.Context, run engine.RunID, how Resumption) (note string, err error)
	// KeepSecret keeps a secret in the system's keychain; where there is none, until the program ends.
	KeepSecret(ctx context.Context, name, value string) error
	// Export writes what a run gave into a new folder inside dir and returns its path.
	Export(ctx context.Context, run engine.RunID, dir string) (string, error)
	// Note keeps a person's own words of a run.
	Note(ctx context.Context, run engine.RunID, text string) error
	// Busy is the run that this process works on; "" none. It does not wait.
	Busy() engine.RunID
	// Send hands a run's results to the configured database too.
	Send(ctx context.Context, run engine.RunID) error
	// Remote names that database; "" none. It does not wait.
	Remote() string
	// RemoteRuns returns the runs of all machines that are in that database, newest first.
	RemoteRuns(ctx context.Context) ([]RemoteRun, error)
	// RemoteCheckpoints returns those of a run that are there, newest first.
	RemoteCheckpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	// Fetch brings a checkpoint from there. told hears, from any goroutine, how many agents' memory is here, of how many.
	Fetch(ctx context.Context, run engine.RunID, number int, told func(done, total int)) error
}

// Trash is what was deleted and can be restored.
type Trash interface {
	// Trashed lists it, newest first, and weighs it.
	Trashed(ctx context.Context) ([]Trashed, error)
	// Restore takes a thing out of the trash, as it was.
	Restore(ctx context.Context, thing Thing) error
	// DeleteTrashed removes one for good.
	DeleteTrashed(ctx context.Context, thing Thing) error
	// EmptyTrash removes for good what was put there at a moment or before, and returns how many that were.
	EmptyTrash(ctx context.Context, upTo time.Time) (int, error)
}

// Thing is what can be deleted: a run, or a checkpoint of one.
type Thing struct {
	Run        engine.RunID
	Checkpoint int // 0 is the run
}

// Trashed is a thing in the trash.
type Trashed struct {
	Thing
	Title    string    // of the run
	Started  time.Time // the run
	At       time.Time // when it was put there
	DaysLeft int       // until it goes for good
	Bytes    int64     // about
}
