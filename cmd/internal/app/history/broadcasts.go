package history

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// broadcastID heads the messages that a person put into inboxes; no agent has this index.
const (
	broadcastID = "Broadcast"
	noAgent     = -1
)

// broadcasts returns the messages that people put into inboxes during the run and that a query selects, by the cycle whose sessions
// receive them first.
func (p *Agents) broadcasts(ctx context.Context, q *view.TranscriptQuery) (all []view.Line, err error) {
	changes, err := p.Store.Changes(ctx, p.Record.ID)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		c := &changes[i]
		m, ok, err := engine.ReadInjection(c.What, c.New)
		if err != nil {
			return nil, err
		}
		if !ok || q.Cycle >= 0 && m.Cycle != q.Cycle || q.Agent >= 0 && len(m.To) > 0 && !slices.Contains(m.To, q.Agent) || later(c.At, q.Until) {
			continue
		}
		l := view.Line{Kind: view.MessageLine, At: c.At, Cycle: m.Cycle, Agent: noAgent, ID: broadcastID, Speaker: cmp.Or(c.Who, "someone"), To: recipients(c.Old), Text: string(m.Body)}
		if c.Who == view.User {
			l.Speaker = "You"
		}
		var body struct {
			Text string          `json:"text"`
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal(m.Body, &body) == nil {
			if l.Text = body.Text; string(body.Data) != "null" {
				l.More = string(body.Data)
			}
		}
		if l.Matches(q.Text) {
			all = append(all, masked(l))
		}
	}
	slices.SortStableFunc(all, func(a, b view.Line) int { return cmp.Compare(a.Cycle, b.Cycle) })
	return all, nil
}

// before returns the broadcasts of the cycles below a cycle, and the rest.
func before(cycle int, all []view.Line) (some, rest []view.Line) {
	n := slices.IndexFunc(all, func(l view.Line) bool { return l.Cycle >= cycle })
	if n < 0 {
		n = len(all)
	}
	return all[:n], all[n:]
}

// firstWhole returns the first cycle that a page from a place shows from its first session on.
func firstWhole(from view.Cursor) int {
	if from.Agent > 0 {
		return from.Cycle + 1
	}
	return from.Cycle
}

// recipients names the recipients of a change's message.
func recipients(old string) string {
	if old == "" || old == "all" {
		return "all agents"
	}
	return old
}
