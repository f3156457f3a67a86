package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage"
)

const (
	// maxArrival bounds what a part of a checkpoint from elsewhere may unfold to, and the files of its scenario.
	maxArrival = 256 << 20
	// ownChanges are not of use without the sessions around them, or are in the checkpoint's state.
	ownChanges = `'` + engine.PhaseChange + `', '` + engine.InjectChange + `', '` + engine.RetireChange + `', '` + engine.RequeueChange + `', '` +
		engine.StallChange + `', '` + engine.SleepChange + `', 'exactness'`
)

// envelope is a checkpoint as a remote database keeps it, beside the memory of agents, the answers that belong to the
// run, the files and the mock shop's log: all that is small, and what tells whether the rest is whole.
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
	Settings    string `cbor:"18,keyasint"` // JSON, without what may be a secret
	Files       int64  `cbor:"19,keyasint"` // bytes
	Sum         []byte `cbor:"20,keyasint"` // SHA-256 of those
	Answers     int    `cbor:"21,keyasint"`
	Remembering int    `cbor:"22,keyasint"` // agents of which there are parts
	Log         int64  `cbor:"23,keyasint"` // bytes that there are at least

	Changes []envelopeChange `cbor:"24,keyasint"` // the last of each kind, oldest first

	Took int64 `cbor:"25,keyasint,omitempty"` // nanoseconds
}

type envelopeChange struct {
	At    int64  `cbor:"1,keyasint"`
	Cycle int    `cbor:"2,keyasint"`
	What  string `cbor:"3,keyasint"`
	Old   string `cbor:"4,keyasint"`
	New   string `cbor:"5,keyasint"`
	Who   string `cbor:"6,keyasint"`
	Why   string `cbor:"7,keyasint"`
}

// envelope reads a checkpoint, but for the length of the log.
func (s *Store) envelope(ctx context.Context, run int64, number int) (*envelope, error) {
	e := &envelope{Number: number}
	var files []byte
	err := s.reader.QueryRowContext(ctx, `SELECT c.at, c.cycle, c.done, c.total, c.reason, c.bytes, c.took, c.state, c.pos, r.title, r.created, r.cycles, r.parent,
		r.fork_cycle, r.source, r.hash, r.parameters, r.settings, r.files,
		(SELECT count(*) FROM shared WHERE run = c.run AND NOT open AND pos < c.pos),
		(SELECT count(DISTINCT agent) FROM checkpoint_memory WHERE run = c.run AND number <= c.number)
		FROM checkpoints c JOIN runs r ON r.key = c.run WHERE c.run = ? AND c.number = ?`, run, number).
		Scan(&e.At, &e.Cycle, &e.Done, &e.Total, &e.Reason, &e.Bytes, &e.Took, &e.State, &e.Pos, &e.Title, &e.Created, &e.Cycles, &e.Parent,
			&e.ForkCycle, &e.Source, &e.Hash, &e.Parameters, &e.Settings, &files, &e.Answers, &e.Remembering)
	if err != nil {
		return nil, translate(err)
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
	for rows, err := range s.query(ctx, `SELECT at, cycle, what, old, new, who, why FROM changes WHERE pos IN
		(SELECT max(pos) FROM changes WHERE run = ? AND pos < ? AND what NOT IN (`+ownChanges+`) GROUP BY what) ORDER BY pos`, run, e.Pos) {
		if err != nil {
			return nil, err
		}
		var c envelopeChange
		if err := rows.Scan(&c.At, &c.Cycle, &c.What, &c.Old, &c.New, &c.Who, &c.Why); err != nil {
			return nil, err
		}
		e.Changes = append(e.Changes, c)
	}
	return e, nil
}

// hear has the checkpoint's state tell what services had been changed to: the rows of changes that the run gets here are
// those of its newest checkpoint.
func (e *envelope) hear() error {
	var state engine.State
	if err := decodeArrival(e.State, &state); err != nil {
		return err
	}
	heard := engine.Resumption{Tuned: state.Tuned}
	for _, c := range e.Changes {
		if err := heard.Hear(&engine.ChangeRow{What: c.What, New: c.New}); err != nil {
			return fmt.Errorf("%w: %w", errArrival, err)
		}
	}
	if len(e.Changes) == 0 {
		return nil
	}
	var err error
	state.Tuned = heard.Tuned
	e.State, err = encode(&state, newFolder())
	return err
}

// errArrival says that what comes from a database is not what was sent there.
var errArrival = errors.New("what the database has of the checkpoint is damaged or not whole")

// arrivalUnfolder unfolds what comes from a database, which anybody may have written to.
var arrivalUnfolder = sync.OnceValue(func() *zstd.Decoder {
	return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArrival)))
})

// UnfoldArrival returns what a part of the mock shop's log holds. Its error says that it is damaged.
func UnfoldArrival(blob []byte) ([]byte, error) {
	if len(blob) == 0 {
		return nil, fmt.Errorf("%w: an empty part", errArrival)
	}
	switch blob[0] {
	case plain:
		return blob[1:], nil
	case compressed:
		raw, err := arrivalUnfolder().DecodeAll(blob[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errArrival, err)
		}
		return raw, nil
	default:
		return nil, fmt.Errorf("%w: unknown format %d", errArrival, blob[0])
	}
}

// decodeArrival is decode for what comes from a database.
func decodeArrival(blob []byte, v any) error {
	raw, err := UnfoldArrival(blob)
	if err != nil {
		return err
	}
	if err := codec.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %w", errArrival, err)
	}
	return nil
}

// readEnvelope reads a checkpoint's own part and checks it.
func readEnvelope(p storage.Part) (*envelope, error) {
	if p.Number != storage.ContentsFormat {
		if p.Number > storage.ContentsFormat {
			return nil, fmt.Errorf("%w: the checkpoint has format %d, this Throng knows %d; use the newer one", engine.ErrNewer, p.Number, storage.ContentsFormat)
		}
		return nil, fmt.Errorf("%w: its format is %d", errArrival, p.Number)
	}
	var e envelope
	if err := decodeArrival(p.Data, &e); err != nil {
		return nil, err
	}
	odd := func(what string) (*envelope, error) { return nil, fmt.Errorf("%w: %s", errArrival, what) }
	switch {
	case p.Kind != storage.StatePart || int64(e.Number) != p.Place || e.Number < 1 || e.Number > math.MaxInt32:
		return odd("it is another checkpoint's")
	case e.Cycle < 0 || e.Cycle > math.MaxInt32 || e.Cycles < 0 || e.Done < 0 || e.Total < 0 || e.ForkCycle < 0 || e.ForkCycle > e.Cycle:
		return odd("its cycle")
	case e.Files <= 0 || e.Files > maxArrival || len(e.Sum) != sha256.Size:
		return odd("its files")
	case e.Answers < 0 || e.Remembering < 0 || e.Log < 0 || e.Pos < 0 || e.Bytes < 0:
		return odd("its counts")
	}
	var state engine.State
	settings, parameters := engine.DefaultSettings(), map[string]string{}
	if err := decodeArrival(e.State, &state); err != nil {
		return nil, err
	}
	if json.Unmarshal([]byte(e.Settings), &settings) != nil || json.Unmarshal([]byte(e.Parameters), &parameters) != nil {
		return odd("its settings")
	}
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errArrival, err)
	}
	return &e, nil
}
