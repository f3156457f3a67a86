package app

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Grade rates a finding.
type Grade uint8

// The grades of findings.
const (
	Plain Grade = iota
	Good
	Doubtful
	Bad
)

var gradeNames = [...]string{"", "ok", "!", "FAIL"}

func (g Grade) String() string { return gradeNames[g] }

// Finding is one result of [CheckDatabase].
type Finding struct {
	Name, Value string
	Grade       Grade
}

// Thresholds for the fraction of a server's connections in use.
const (
	busyShare = 0.83
	fullShare = 0.92
)

// CheckDatabase checks a database before results are sent to it. If there is an error, it returns the findings before it.
func CheckDatabase(ctx context.Context, db config.Database) ([]Finding, error) {
	cfg, err := db.Config()
	if err != nil {
		return nil, err
	}
	r, err := postgres.Check(ctx, cfg)
	var all []Finding
	add := func(known bool, grade Grade, name, format string, args ...any) {
		if known {
			all = append(all, Finding{name, fmt.Sprintf(format, args...), grade})
		}
	}
	grade := func(good bool, otherwise Grade) Grade {
		if good {
			return Good
		}
		return otherwise
	}
	add(true, Plain, "database", "%s", r.Target)
	add(r.Version != "", Good, "version", "PostgreSQL %s", r.Version)
	add(r.TLS != "", Plain, "encryption", "%s", r.TLS)
	add(r.RoundTrip > 0, grade(r.RoundTrip < 100*time.Millisecond, Doubtful), "round trip", "%s", engine.FormatDuration(r.RoundTrip))
	if most := r.MaxConnections - r.Kept; most > 0 {
		used := float64(r.InUse) / float64(most)
		crowded := Doubtful
		if used >= fullShare {
			crowded = Bad
		}
		add(true, grade(used < busyShare, crowded), "connections", "%d of %d in use; %d more reserved for superusers", r.InUse, most, r.Kept)
		hidden := ""
		if r.Hidden > 0 {
			hidden = fmt.Sprintf("; %d clients hidden from this user", r.Hidden)
		}
		add(true, grade(r.IdleInTransaction == 0, Doubtful), "idle in transaction", "%d%s", r.IdleInTransaction, hidden)
	}
	add(r.Rights != "", grade(err == nil, Bad), "rights", "%s", r.Rights)
	return all, err
}
