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
	key, err := s.history.core.key(ctx, run)
	if err != nil {
		return nil, err
	}
	c, err := content.New(ctx, s.file, s.options.Logger, key, most, redact)
	if err != nil {
		return nil, fmt.Errorf("content of run %s: %w", run, err)
	}
	return c, nil
}

// ContentSize returns how many bytes of content a run keeps.
func (s *Store) ContentSize(ctx context.Context, run engine.RunID) (bytes int64, err error) {
	key, err := s.history.core.key(ctx, run)
	if err == nil {
		bytes, err = content.Size(ctx, s.file, key)
	}
	if err != nil {
		return 0, fmt.Errorf("content of run %s: %w", run, err)
	}
	return bytes, nil
}

// Exchanges returns the kept exchanges of some agents in a cycle, oldest first. It returns at most some megabytes.
func (s *Store) Exchanges(ctx context.Context, run engine.RunID, q storage.ExchangeQuery) (all []engine.Exchange, err error) {
	key, err := s.history.core.key(ctx, run)
	if err == nil {
		all, err = content.Read(ctx, s.file, key, &q)
	}
	if err != nil {
		return nil, fmt.Errorf("exchanges of run %s: %w", run, err)
	}
	return all, nil
}
