package sqlite

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/content"
)

// Content keeps the exchanges of one run for reading.
type Content = content.Content

// KeepContent keeps the exchanges of a run until they take most bytes in the store, those of earlier processes included.
// redact removes secrets from an exchange before it is written.
func (s *Store) KeepContent(ctx context.Context, run engine.RunID, most int64, redact func(*engine.Exchange)) (*Content, error) {
	return ofRun(ctx, s, run, func(key int64) (*Content, error) {
		return content.New(ctx, s.file, s.options.Logger, key, most, redact)
	})
}

// ContentSize returns how many bytes of content a run keeps.
func (s *Store) ContentSize(ctx context.Context, run engine.RunID) (int64, error) {
	return ofRun(ctx, s, run, func(key int64) (int64, error) { return content.Size(ctx, s.file, key) })
}

// Exchanges returns the kept exchanges of some agents in a cycle, oldest first. It returns at most some megabytes.
func (s *Store) Exchanges(ctx context.Context, run engine.RunID, q storage.ExchangeQuery) ([]engine.Exchange, error) {
	return ofRun(ctx, s, run, func(key int64) ([]engine.Exchange, error) { return content.Read(ctx, s.file, key, &q) })
}

func ofRun[T any](ctx context.Context, s *Store, run engine.RunID, do func(key int64) (T, error)) (found T, err error) {
	key, err := s.history.key(ctx, run)
	if err == nil {
		found, err = do(key)
	}
	if err != nil {
		err = fmt.Errorf("content of run %s: %w", run, err)
	}
	return found, err
}
