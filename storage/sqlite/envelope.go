package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// ownChanges are useless without the sessions around them, or part of the checkpoint's state.
	ownChanges = `'` + engine.PhaseChange + `', '` + engine.InjectChange + `', '` + engine.RetireChange + `', '` + engine.RequeueChange + `', '` +
		engine.StallChange + `', '` + engine.SleepChange + `', '` + engine.FleetChange + `', 'exactness'`
)

// envelope is a checkpoint in a remote database without the memory of agents, shared answers, files and the mock shop's log.
// It contains the small parts, and the data to verify that the rest is complete.
type envelope struct {
	Number      int    `cbor:"1,keyasint"`
	At          int64  `cbor:"2,keyasint"`
	Cycle       int    `cbor:"3,keyasint"`
	Done        int64  `cbor:"4,keyasint"`
	Total       int64  `cbor:"5,keyasint"`
	Reason      string `cbor:"6,keyasint"`
	Bytes       int64  `cbor:"7,keyasint"`
	State       []byte `cbor:"8,keyasint"` // the blob of an engine.State
	Pos         int64  `cbor:"9,keyasint"`
	Title       string `cbor:"10,keyasint"`
	Created     int64  `cbor:"11,keyasint"`
	Cycles      int    `cbor:"12,keyasint"`
	Parent      string `cbor:"13,keyasint"`
	ForkCycle   int    `cbor:"14,keyasint"`
	Source      string `cbor:"15,keyasint"`
	Hash        string `cbor:"16,keyasint"`
	Parameters  string `cbor:"17,keyasint"` // JSON
	Settings    string `cbor:"18,keyasint"` // JSON, without possible secrets
	Files       int64  `cbor:"19,keyasint"` // bytes
	Sum         []byte `cbor:"20,keyasint"` // SHA-256 of the files
	Answers     int    `cbor:"21,keyasint"`
	Remembering int    `cbor:"22,keyasint"`           // number of agents with parts
	Log         int64  `cbor:"23,keyasint"`           // minimum size in bytes
	Changes     []byte `cbor:"24,keyasint"`           // JSON of the last engine.ChangeRow of each kind, oldest first
	Took        int64  `cbor:"25,keyasint,omitempty"` // nanoseconds
}

// changes returns the changes of the run up to the checkpoint.
func (e *envelope) changes() (all []engine.ChangeRow, err error) {
	err = json.Unmarshal(e.Changes, &all)
	return all, err
}

// envelope reads a checkpoint, without the length of the log.
func (s *outbox) envelope(ctx context.Context, run int64, number int) (*envelope, error) {
	e := &envelope{Number: number}
	var files []byte
	err := s.file.Row(ctx, `SELECT c.at, c.cycle, c.done, c.total, c.reason, c.bytes, c.took, c.state, c.pos, r.title, r.created, r.cycles, r.parent,
		r.fork_cycle, r.source, r.hash, r.parameters, r.settings, r.files,
		(SELECT count(*) FROM shared WHERE run = c.run AND NOT open AND pos < c.pos),
		(SELECT count(DISTINCT agent) FROM checkpoint_memory WHERE run = c.run AND number <= c.number)
		FROM checkpoints c JOIN runs r ON r.key = c.run WHERE c.run = ? AND c.number = ?`, run, number).
		Scan(&e.At, &e.Cycle, &e.Done, &e.Total, &e.Reason, &e.Bytes, &e.Took, &e.State, &e.Pos, &e.Title, &e.Created, &e.Cycles, &e.Parent,
			&e.ForkCycle, &e.Source, &e.Hash, &e.Parameters, &e.Settings, &files, &e.Answers, &e.Remembering)
	if err != nil {
		return nil, file.Translate(err)
	}
	sum := sha256.Sum256(files)
	e.Files, e.Sum = int64(len(files)), sum[:]
	settings := engine.DefaultSettings()
	if err := json.Unmarshal([]byte(e.Settings), &settings); err != nil {
		return nil, err
	}
	settings.Services = storage.WithoutSecrets(settings.Services)
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	e.Settings = string(text)
	var changes []engine.ChangeRow
	for rows, err := range s.file.Query(ctx, `SELECT at, cycle, what, old, new, who, why FROM changes WHERE pos IN
		(SELECT max(pos) FROM changes WHERE run = ? AND pos < ? AND what NOT IN (`+ownChanges+`) GROUP BY what) ORDER BY pos`, run, e.Pos) {
		if err != nil {
			return nil, err
		}
		var c engine.ChangeRow
		var at int64
		if err := rows.Scan(&at, &c.Cycle, &c.What, &c.Old, &c.New, &c.Who, &c.Why); err != nil {
			return nil, err
		}
		c.At = timeOf(at)
		changes = append(changes, c)
	}
	e.Changes, err = json.Marshal(changes)
	return e, err
}

// applyChanges applies the changes of services to the state of the checkpoint. The changes that the run gets in this store are those
// of its newest checkpoint.
func (e *envelope) applyChanges() error {
	var state engine.State
	if err := blob.UnmarshalForeign(e.State, &state); err != nil {
		return err
	}
	changes, err := e.changes()
	if err != nil || len(changes) == 0 {
		return err
	}
	resumed := engine.Resumption{Tuned: state.Tuned}
	for i := range changes {
		if err := resumed.Apply(&changes[i]); err != nil {
			return fmt.Errorf("%w: %w", blob.ErrForeign, err)
		}
	}
	state.Tuned = resumed.Tuned
	e.State, err = blob.Marshal(&state, blob.NewEncoder())
	return err
}

// readEnvelope decodes and validates the state part of a checkpoint.
func readEnvelope(p storage.Part) (*envelope, error) {
	if p.Number != storage.ContentsFormat {
		if p.Number > storage.ContentsFormat {
			return nil, fmt.Errorf("%w: the checkpoint has format %d, this Throng knows %d; use the newer one", engine.ErrNewer, p.Number, storage.ContentsFormat)
		}
		return nil, fmt.Errorf("%w: its format is %d", blob.ErrForeign, p.Number)
	}
	var e envelope
	if err := blob.UnmarshalForeign(p.Data, &e); err != nil {
		return nil, err
	}
	odd := func(what string) (*envelope, error) { return nil, fmt.Errorf("%w: %s", blob.ErrForeign, what) }
	switch {
	case p.Kind != storage.StatePart || int64(e.Number) != p.Place || e.Number < 1 || e.Number > math.MaxInt32:
		return odd("it belongs to another checkpoint")
	case e.Cycle < 0 || e.Cycle > math.MaxInt32 || e.Cycles < 0 || e.Done < 0 || e.Total < 0 || e.ForkCycle < 0 || e.ForkCycle > e.Cycle:
		return odd("invalid cycle")
	case e.Files <= 0 || e.Files > blob.MaxForeign || len(e.Sum) != sha256.Size:
		return odd("invalid files")
	case e.Answers < 0 || e.Remembering < 0 || e.Log < 0 || e.Pos < 0 || e.Bytes < 0:
		return odd("invalid counts")
	}
	var state engine.State
	settings, parameters := engine.DefaultSettings(), map[string]string{}
	if err := blob.UnmarshalForeign(e.State, &state); err != nil {
		return nil, err
	}
	if json.Unmarshal([]byte(e.Settings), &settings) != nil || json.Unmarshal([]byte(e.Parameters), &parameters) != nil {
		return odd("invalid settings")
	}
	if _, err := e.changes(); err != nil {
		return odd("invalid changes")
	}
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", blob.ErrForeign, err)
	}
	return &e, nil
}
