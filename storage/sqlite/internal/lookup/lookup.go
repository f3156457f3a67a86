// Package lookup finds runs by the beginning of an ID, or by name.
package lookup

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// most is the number of runs that an error lists.
const most = 3

// Queries executes queries.
type Queries interface {
	Query(ctx context.Context, query string, args ...any) iter.Seq2[*sql.Rows, error]
}

// By is what a text is compared with.
type By int

// The kinds of comparison.
const (
	ID   By = iota // the beginning of an ID
	Name           // a name, or the title of a run without one
)

var conditions = [...]string{ID: `substr(id, 1, length(?1)) = ?1`, Name: `iif(name = '', title, name) = ?1 COLLATE NOCASE`}

// Run returns the ID of the only run that matches a text, among those whose column hidden has a value. If none matches, the error is
// [engine.ErrNotFound]; if several do, it is a [*storage.AmbiguousError].
func Run(ctx context.Context, q Queries, by By, text string, hidden int) (engine.RunID, error) {
	found := storage.AmbiguousError{Text: text, Named: by == Name, Trashed: hidden != 0}
	query := `SELECT id, iif(name = '', title, name), created, count(*) OVER () FROM runs WHERE hidden = ?2 AND ` + conditions[by] +
		` ORDER BY created DESC, key DESC LIMIT ?3`
	for rows, err := range q.Query(ctx, query, text, hidden, most) {
		var r storage.Hit
		var created int64
		if err == nil {
			err = rows.Scan(&r.ID, &r.Name, &created, &found.All)
		}
		if err != nil {
			return "", err
		}
		r.Created = time.UnixMicro(created)
		found.Runs = append(found.Runs, r)
	}
	switch {
	case text == "" || found.All == 0:
		return "", engine.ErrNotFound
	case found.All > 1:
		return "", &found
	}
	return found.Runs[0].ID, nil
}
