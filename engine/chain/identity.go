package chain

import (
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// The ids of a session: one for services, which no two runs share, and one for results, which every run with the seed
// shares.
const (
	runIdentity  = "uuid"
	seedIdentity = "seed_uuid"
)

// writing is a reader of a request that changes something, or of one that does not.
func (r *reader) writing(changes bool) *reader {
	inner := *r
	inner.writes = changes
	return &inner
}

// telling is a reader of what must not differ between runs with one seed; what says what that is.
func (r *reader) telling(what string) *reader {
	inner := *r
	inner.tells = what
	return &inner
}

// warnIdentity looks for the wrong one of a session's ids.
func (r *reader) warnIdentity(n *doc.Node, refs func(string) script.Refs) {
	if !r.writes && r.tells == "" {
		return
	}
	for _, f := range refs("session").Fields {
		switch {
		case r.writes && f.Name == seedIdentity:
			n.Warnf("use `session.uuid`, which no two runs share", "every run with this seed sends this id: the second run meets what the first one made")
		case r.tells != "" && f.Name == runIdentity:
			n.Warnf("use `session.seed_uuid`", "%s: `session.uuid` is another one in each run", r.tells)
		}
	}
}
