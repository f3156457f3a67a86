package storage

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// AmbiguousError says that several runs have the beginning of an ID, or a name. It is an [engine.ErrNotFound].
type AmbiguousError struct {
	Text    string
	Named   bool  // Text is a name
	Trashed bool  // the runs are in the trash
	All     int   // runs that match
	Runs    []Hit // the newest of them
}

// Hit is a run that matches a text.
type Hit struct {
	ID      engine.RunID
	Name    string
	Created time.Time
}

// Unwrap returns [engine.ErrNotFound].
func (*AmbiguousError) Unwrap() error { return engine.ErrNotFound }

func (e *AmbiguousError) Error() string {
	list := make([]string, len(e.Runs), len(e.Runs)+1)
	for i, r := range e.Runs {
		about := r.Name
		if e.Named {
			about = "started " + r.Created.Local().Format("2006-01-02 15:04:05")
		}
		list[i] = string(r.ID)
		if about != "" {
			list[i] += " (" + about + ")"
		}
	}
	if more := e.All - len(e.Runs); more > 0 {
		list = append(list, engine.FormatCount(int64(more))+" more")
	}
	last := len(list) - 1
	text := strings.Join(list[:last], ", ") + " and " + list[last]
	where := ""
	if e.Trashed {
		where = " in the trash"
	}
	if e.Named {
		return fmt.Sprintf("%d runs%s have the name %q: %s; use an ID", e.All, where, e.Text, text)
	}
	return fmt.Sprintf("the ID %q is ambiguous, %d runs%s begin with it: %s; use more of the ID", e.Text, e.All, where, text)
}
