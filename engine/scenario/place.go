package scenario

import (
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// places caches the file and line of steps by path, such as shop.yaml:12. The zero value is empty and ready to use.
type places struct{ byPath sync.Map }

// locate puts the file and line of the failed step before a session's error. An error in an expression names its exact
// place already.
func (p *Program) locate(r *engine.SessionRow) {
	if r.Error == "" || r.Path == "" {
		return
	}
	where := p.where(withoutIterations(r.Path))
	file, _, _ := strings.Cut(where, ":")
	if where != "" && !strings.HasPrefix(r.Error, file+":") {
		r.Error = where + ": " + r.Error
	}
}

func (p *Program) where(path string) string {
	if known, ok := p.places.byPath.Load(path); ok {
		return known.(string)
	}
	where := p.s.Chain.Where(path)
	p.places.byPath.Store(path, where)
	return where
}

// withoutIterations removes the numbers of iterations from a path: fill[2].add becomes fill.add.
func withoutIterations(path string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, path, _ = strings.Cut(rest, "]")
	}
}
