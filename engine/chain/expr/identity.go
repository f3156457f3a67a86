package expr

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

// warnIdentity reports the use of the wrong id of a session.
func (r *Compiler) warnIdentity(n *doc.Node, refs func(string) script.Refs) {
	if !r.Changes && r.Stable == "" {
		return
	}
	for _, f := range refs("session").Fields {
		switch {
		case r.Changes && f.Name == seedIdentity:
			n.Warnf("use `session.uuid`, which is unique to each run", "every run with this seed sends the same id: the second run finds what the first one created")
		case r.Stable != "" && f.Name == runIdentity:
			n.Warnf("use `session.seed_uuid`", "%s: `session.uuid` differs between runs", r.Stable)
		}
	}
}
