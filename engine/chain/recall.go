package chain

import (
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/recall"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// recollect is a recall step. Its output is the list of the agent's notes that match a query best; see [retrieval.Rank]. It embeds the
// query, and each note once: the embeddings are kept with the notes.
type recollect struct {
	service *Service
	step    *recall.Step
}

func readRecall(r *reader, n *doc.Node) action {
	n.Require("service", "query")
	*recalling(r.Reader) = true
	s := r.embedder(n.Get("service"))
	if s != nil && s.Embeds == "" && strings.Contains(s.URL, "://") {
		n.Get("service").Warnf("`embedding_model: NAME` in the service", "the service %s names no model for embeddings, so its model for chats is asked for them", s.Name)
	}
	return &recollect{s, recall.Read(&r.Compiler, n)}
}

// recalling returns whether steps of the file recall notes, which is known when all are read.
func recalling(r *Reader) *bool {
	if r.recalls == nil {
		r.recalls = new(bool)
	}
	return r.recalls
}

func (c *recollect) changes() *Service { return nil }

func (c *recollect) asks() ([]*Service, odds.Odds) { return []*Service{c.service}, odds.Perhaps }

func (c *recollect) run(t *turn) (value.Value, error) {
	s := t.bound(c.service)
	q, err := c.step.Query(t)
	if err != nil {
		return nil, err
	}
	q.Model, q.Cycle = s.embedModel(), t.x.s.Cycle
	found, err := recall.Search(t.x.in.Memory.Now(), &q, func(call int, texts []string) ([][]float32, error) {
		path := t.path // each call has its own in the journal: recall, recall~2
		if call > 1 {
			path += "~" + itoa(call)
		}
		return t.embed(s, path, texts, c.step.Size)
	})
	if err != nil {
		return nil, err
	}
	if err := t.writes(&engine.Delta{Kept: found.Kept}); err != nil {
		return nil, err
	}
	t.x.kept += retrieval.Size(found.Kept)
	if t.x.s.Traced(false) {
		list, err := value.AppendJSON(nil, found.Output)
		if err != nil {
			return nil, err
		}
		t.x.s.Trace(engine.Exchange{
			At: time.Now(), Path: t.path, Request: "query of notes", Sent: service.Shown([]byte(q.Text), len(q.Text)), Answer: service.Shown(list, len(list)),
		}, false)
	}
	return found.Output, nil
}
