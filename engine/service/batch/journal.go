package batch

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// plan is what the journal has of a batch before it is created.
type plan struct {
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"`
	Model    string    `json:"model"`
	Calls    []string  `json:"calls"` // their IDs
}

// made is what the journal has of a batch after it was created. Without a Batch the provider has none for the plan.
type made struct {
	Batch string    `json:"batch,omitempty"` // the provider's ID
	File  string    `json:"file,omitempty"`  // of the requests
	Due   time.Time `json:"due,omitzero"`
}

// Kinds of entries in the journal.
const (
	forPlan = "plan"
	forMade = "made"
)

// key returns the key of a batch in the journal of its run.
func (q *Queue) key(run engine.RunID, number int, of string) engine.SharedKey {
	sum := sha256.Sum256([]byte("batch\x00" + string(run) + "\x00" + q.service.Name + "\x00" + strconv.Itoa(number) + "\x00" + of))
	return engine.SharedKey(sum[:len(engine.SharedKey{})])
}

// load reads the batches of earlier processes from the journal, once. mu is held.
func (q *Queue) load(j Journal) {
	if q.loaded {
		return
	}
	q.loaded = true
	for ; ; q.next++ {
		data, ok := j.Recall(q.key(j.RunID(), q.next, forPlan))
		if !ok {
			return
		}
		var p plan
		if json.Unmarshal(data, &p) != nil {
			continue
		}
		b := newBatch(q, j, group{p.Endpoint, p.Model})
		b.number, b.sealed, b.earlier, b.planned, b.ids = q.next, true, true, p.At, p.Calls
		if data, ok := j.Recall(q.key(j.RunID(), q.next, forMade)); ok {
			var m made
			if json.Unmarshal(data, &m) != nil {
				continue
			}
			if m.Batch == "" { // it never existed
				continue
			}
			b.made = &m
			b.due = m.Due
		}
		for _, id := range p.Calls {
			q.holds[id] = b
		}
	}
}

// keepPlan makes the list of calls durable.
func (b *batch) keepPlan() error {
	b.planned = time.Now().UTC()
	return b.keep(forPlan, plan{b.planned, b.group.endpoint, b.group.model, b.ids})
}

// keepMade makes the provider's ID durable.
func (b *batch) keepMade(m *made) error {
	b.queue.mu.Lock()
	b.made, b.due = m, m.Due
	b.queue.mu.Unlock()
	return b.keep(forMade, m)
}

func (b *batch) keep(what string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("batch %d: %w", b.number, err)
	}
	if err := b.journal.Keep(b.queue.key(b.journal.RunID(), b.number, what), data); err != nil {
		return fmt.Errorf("%w: journal batch %d: %w", engine.ErrCut, b.number, err)
	}
	return nil
}
