package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// cleanupBegins records in the run that this run cleans up, if any, that the cleanup began.
func (w *transaction) cleanupBegins(at time.Time) error {
	return w.markCleaned(func(c *engine.Cleaned) { c.At, c.Ending = at, "" })
}

// cleanupEnds records there what the cleanup did.
func (w *transaction) cleanupEnds(r *engine.EndRow) error {
	return w.markCleaned(func(c *engine.Cleaned) {
		c.At, c.Ending, c.Requests, c.Done = r.At, r.Ending.String(), r.Totals.SentRequests().Requests, 0
		for o, n := range r.Totals.Outcomes {
			if engine.Outcome(o).Commits() {
				c.Done += n
			}
		}
	})
}

// markCleaned changes the entry of this run in the run that it cleans up. It does nothing if this run is not a cleanup or
// the other run does not exist.
func (w *transaction) markCleaned(change func(*engine.Cleaned)) error {
	var of, text string
	c := engine.Cleaned{}
	err := w.tx.Row(`SELECT id, coalesce(json_extract(settings, '$.cleanup_of'), ''), coalesce(json_array_length(settings, '$.agents'), 0) FROM runs WHERE key = ?`,
		w.journal.run).Scan((*string)(&c.By), &of, &c.Agents)
	if err != nil || of == "" {
		return err
	}
	err = w.tx.Row(`SELECT cleaned FROM runs WHERE id = ?`, of).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var all []engine.Cleaned
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(old engine.Cleaned) bool { return old.By == c.By })
	if i < 0 {
		i, all = len(all), append(all, c)
	}
	change(&all[i])
	changed, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return w.tx.Exec(`UPDATE runs SET cleaned = ? WHERE id = ?`, string(changed), of)
}
