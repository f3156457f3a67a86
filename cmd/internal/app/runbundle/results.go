package runbundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

func newFile(name string, size int64, sum hash.Hash) File {
	return File{name, size, hex.EncodeToString(sum.Sum(nil))}
}

// exports are the results that a manifest lists.
var exports = []struct {
	name  string
	write func(ctx context.Context, w io.Writer, r storage.Reader, run engine.RunID, names storage.Names) error
}{
	{"sessions.csv", storage.ExportSessions},
	{"events.csv", func(ctx context.Context, w io.Writer, r storage.Reader, run engine.RunID, names storage.Names) error {
		return storage.Export(ctx, w, storage.CSV, "events", r, run, names)
	}},
	{"memory.jsonl", storage.ExportMemory},
}

// results returns the digests of the results of a run, as throngctl export writes them.
func results(ctx context.Context, store *sqlite.Store, run engine.RunID) (all []File, err error) {
	names, err := review.Names(ctx, store, run)
	if err != nil {
		return nil, err
	}
	for _, e := range exports {
		sum := &counted{Hash: sha256.New()}
		if err := e.write(ctx, sum, store, run, names); err != nil {
			return nil, err
		}
		all = append(all, newFile(e.name, sum.size, sum))
	}
	return all, nil
}

// stable returns the digests of the results of a run without what differs between runs with the same seed.
func stable(ctx context.Context, store *sqlite.Store, run engine.RunID) (all []File, err error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	names, err := review.Names(ctx, store, run)
	if err != nil {
		return nil, err
	}
	for _, part := range storage.Exact {
		sum := &settled{counted: counted{Hash: sha256.New()}, seed: record.Settings.Seed, run: run}
		if err := part.Write(ctx, sum, store, run, names); err != nil {
			return nil, err
		}
		all = append(all, sum.file(part.Name))
	}
	return all, nil
}

// differ returns the names of files that are not the same in both lists of results.
func differ(found, want []File) (names []string) {
	for i, f := range found {
		if i >= len(want) || f != want[i] {
			names = append(names, f.Name)
		}
	}
	return names
}

// counted is a hash that counts its bytes.
type counted struct {
	hash.Hash
	size int64
}

// Write adds bytes.
func (c *counted) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	return c.Hash.Write(p)
}

// settled hashes lines without the IDs of sessions that differ between runs with the same seed.
type settled struct {
	counted
	line []byte // its beginning
	seed uint64
	run  engine.RunID
}

var _ io.Writer = (*settled)(nil)

// Write hashes complete lines and keeps the rest.
func (s *settled) Write(p []byte) (int, error) {
	s.line = append(s.line, p...)
	if end := bytes.LastIndexByte(s.line, '\n') + 1; end > 0 {
		s.add(s.line[:end])
		s.line = append(s.line[:0], s.line[end:]...)
	}
	return len(p), nil
}

func (s *settled) add(text []byte) {
	_, _ = s.counted.Write(engine.Settle(text, s.seed, []engine.RunID{s.run})) // hashes do not fail
}

// file returns the digest of all that was written.
func (s *settled) file(name string) File {
	s.add(s.line)
	s.line = nil
	return newFile(name, s.size, &s.counted)
}
