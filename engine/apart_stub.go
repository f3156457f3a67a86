package engine

import (
	"context"
	"time"
)

func (s *Session) Recall(SharedKey) (Entry, bool)                 { return Entry{}, false }
func (s *Session) Apart(SharedKey, time.Duration, error) *Session { return s }
func (s *Session) Settle(context.Context, StepRecord) error       { return nil }
