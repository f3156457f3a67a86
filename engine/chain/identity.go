package chain

import (
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// The two ids of a session: one for services, unique across runs, and one for results, the same in every run with the
// same seed.
const (
	runIdentity  = "uuid"
	seedIdentity = "seed_uuid"
)

// writing returns a reader for a request that changes something, or for one that does not.
func (r *reader) writing(changes bool) *reader {
	inner := *r
	inner.writes = changes
	return &inner
}

// telling returns a reader for a value that must be the same in all runs with one seed; what names it.
func (r *reader) telling(what string) *reader {
	inner := *r
	inner.tells = what
	return &inner
}

// warnIdentity reports the use of the wrong id of a session.
func (r *reader) warnIdentity(n *doc.Node, refs func(string) script.Refs) {
	if !r.writes && r.tells == "" {
		return
	}
	for _, f := range refs("session").Fields {
		switch {
		case r.writes && f.Name == seedIdentity:
			n.Warnf("use `session.uuid`, which is unique to each run", "every run with this seed sends the same id: the second run finds what the first one created")
		case r.tells != "" && f.Name == runIdentity:
			n.Warnf("use `session.seed_uuid`", "%s: `session.uuid` differs between runs", r.tells)
		}
	}
}
