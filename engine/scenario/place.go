package scenario

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// places caches by path the file and line of steps, such as shop.yaml:12, and what to change if their credentials are not accepted. The
// zero value is empty and ready to use.
type places struct{ byPath, credentials sync.Map }

// locate puts the file and line of the failed step before a session's error. An error in an expression names its exact
// place already.
func (p *Program) locate(r *engine.SessionRow) {
	if r.Error == "" || r.Path == "" {
		return
	}
	if r.Lasting.Status == http.StatusUnauthorized {
		r.Lasting.Fix = p.credentials(withoutIterations(r.Path))
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

// credentials says what to change if a service does not accept what a step sends.
func (p *Program) credentials(path string) string {
	if known, ok := p.places.credentials.Load(path); ok {
		return known.(string)
	}
	var names []string
	graph := p.s.Chain.Graph()
	graph.Walk(func(step *engine.GraphStep) {
		for _, s := range p.s.Services {
			if step.Path == path && s.Name == step.Service {
				names = slices.DeleteFunc(append(slices.Clone(s.Secrets()), s.Bearer), func(n string) bool { return n == "" })
			}
		}
	})
	slices.Sort(names)
	fix := changeSecrets(names)
	p.places.credentials.Store(path, fix)
	return fix
}

// changeSecrets advises to change the secrets that a service gets.
func changeSecrets(names []string) string {
	switch names = slices.Compact(names); len(names) {
	case 0:
		return "the service does not accept the credentials, and it gets no secret: check `auth` of the service, or the step that logs in"
	case 1:
		return "the service does not accept the credentials: change the secret " + names[0] + " (in the window: Setup, Services; in a terminal: throngctl secret set " + names[0] + "), or check `auth` of the service"
	}
	return "the service does not accept the credentials: change the secrets " + strings.Join(names, ", ") + " (in the window: Setup, Services; in a terminal: throngctl secret set NAME), or check `auth` of the service"
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
