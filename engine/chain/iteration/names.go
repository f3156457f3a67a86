// Package iteration names the passes of loops.
package iteration

import (
	"strconv"
	"sync"
)

// Names makes the paths of the steps in the passes of a loop. All sessions share those of the first passes of a loop at the top of a
// chain. It is safe for concurrent use.
type Names struct {
	steps []string
	once  sync.Once
	first []pass
}

// pass has the prefix of its steps, and their paths.
type pass struct {
	prefix string
	paths  []string
}

const (
	shared      = 64 // passes
	sharedSteps = 16 // of a block; longer ones would take much memory
)

// New returns the names of a loop around steps.
func New(steps []string) *Names { return &Names{steps: steps} }

// Of returns the prefix of pass i of the loop at a path, and the paths of its steps, or nil. top means that the path is always the same.
func (n *Names) Of(path string, top bool, i int) (prefix string, paths []string) {
	if !top || i >= shared || len(n.steps) > sharedSteps {
		return prefixOf(path, i), nil
	}
	n.once.Do(func() {
		n.first = make([]pass, shared)
		for i := range n.first {
			p := &n.first[i]
			p.prefix = prefixOf(path, i)
			for _, s := range n.steps {
				p.paths = append(p.paths, p.prefix+s)
			}
		}
	})
	return n.first[i].prefix, n.first[i].paths
}

func prefixOf(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]." }
