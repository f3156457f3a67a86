package chain

import (
	"encoding/json"
	"slices"

	"github.com/throng-sim/throng/engine/chain/extra"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Extra reads the extra fields of all completion requests to a service; values may use parameters.
func (r *Reader) Extra(n *doc.Node) []llm.Extra {
	return extra.Constant(&r.in(nil, nil).Compiler, n, r.Blind)
}

// extended adds the service's extra fields to a request; the step's own fields take precedence.
func (s *Service) extended(chat *llm.Chat) {
	if chat.Effort == "" {
		chat.Effort = s.Effort
	}
	own := len(chat.Extra)
	chat.Extra = slices.Clone(chat.Extra)
	for _, e := range s.Extra {
		if !slices.ContainsFunc(chat.Extra[:own], func(o llm.Extra) bool { return o.Name == e.Name }) {
			chat.Extra = append(chat.Extra, e)
		}
	}
}

// asked identifies the service in a request: its models and its extra fields.
func (s *Service) asked() []string {
	all := slices.Clone(s.Models)
	if s.Effort == "" && len(s.Extra) == 0 {
		return all
	}
	text, err := json.Marshal([]any{s.Effort, s.Extra})
	if err != nil {
		panic(err) // strings, and values that are JSON already
	}
	return append(all, string(text))
}
