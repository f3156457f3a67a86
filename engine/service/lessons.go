package service

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// lessons are the request fields that a service's models refuse. Each is learned from an error that names it, and left out from
// then on. It is safe for concurrent use.
type lessons struct {
	mu    sync.Mutex
	by    map[string][]string // fields by model
	moves []engine.ChangeRow
}

// of returns the fields that a model refuses. The caller must not change them.
func (l *lessons) of(model string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[model]
}

// learn records that a model of a service refuses a field, and why.
func (l *lessons) learn(service, model, field, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.by[model], field) {
		return
	}
	was := l.text()
	if l.by == nil {
		l.by = map[string][]string{}
	}
	l.by[model] = append(slices.Clone(l.by[model]), field)
	l.moves = append(l.moves, engine.ChangeRow{
		At: time.Now(), What: service + unsupportedTail, Old: was, New: l.text(), Who: service, Why: "the model " + model + " refuses " + field + why,
	})
}

// taken returns what was learned since the last call.
func (l *lessons) taken() []engine.ChangeRow {
	l.mu.Lock()
	defer l.mu.Unlock()
	moves := l.moves
	l.moves = nil
	return moves
}

// unsupportedTail is the suffix of the tunable's name.
const unsupportedTail = ".unsupported"

// text returns the fields in the format of set: "gpt-5: temperature, seed; o3: seed". l.mu is held.
func (l *lessons) text() string {
	var all []string
	for model, fields := range l.by {
		all = append(all, model+": "+strings.Join(fields, ", "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// set replaces the fields.
func (l *lessons) set(text string) error {
	by, err := parseLessons(text)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by = by
	return nil
}

// add adds fields, and returns all of them before and after. A text that cannot be read changes nothing.
func (l *lessons) add(text string) (old, now string) {
	more, err := parseLessons(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	old = l.text()
	if err != nil {
		return old, old
	}
	if l.by == nil {
		l.by = map[string][]string{}
	}
	for model, fields := range more {
		all := slices.Clone(l.by[model])
		for _, name := range fields {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		l.by[model] = all
	}
	return old, l.text()
}

// parseLessons is the inverse of text.
func parseLessons(text string) (map[string][]string, error) {
	by := map[string][]string{}
	for one := range strings.SplitSeq(text, ";") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		at := strings.LastIndex(one, ": ")
		if at <= 0 {
			return nil, fmt.Errorf("%q is not a model, a colon and fields", one)
		}
		for name := range strings.SplitSeq(one[at+2:], ",") {
			if name = strings.TrimSpace(name); name != "" {
				by[one[:at]] = append(by[one[:at]], name)
			}
		}
	}
	return by, nil
}

// tunable returns the setting that a user, and a resumed run, change.
func (l *lessons) tunable() tunable {
	return tunable{"unsupported", `request fields that a model refuses and that are left out, such as "gpt-5: temperature, seed"`, func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.text()
	}, l.set}
}

// rejects reports whether a status says that the service does not accept the form of a request.
func rejects(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotImplemented
}
