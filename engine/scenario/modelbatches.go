package scenario

import (
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/batch"
)

// batches reads whether the calls of a service of models go through the provider's batch API.
func (r serviceReader) batches(s *chain.Service, n *doc.Node) {
	if n == nil {
		return
	}
	switch n.Kind() {
	case doc.Scalar:
		if n.OneOf("on", "off") == "on" {
			s.Batch = &batch.Config{}
		}
	default:
		n.Fields("size", "bytes", "wait", "poll")
		s.Batch = &batch.Config{Bytes: size(n.Get("bytes"), batch.MostBytes)}
		if size := n.Get("size"); size != nil {
			s.Batch.Size = size.Int(1, batch.MostCalls)
		}
		if wait := n.Get("wait"); wait != nil {
			s.Batch.Wait = wait.Duration(time.Millisecond, time.Hour)
		}
		if poll := n.Get("poll"); poll != nil {
			s.Batch.Poll = poll.Duration(time.Millisecond, time.Hour)
		}
	}
	if s.Batch != nil && s.Wire.Name != service.APIs[0].Name {
		n.Errorf("remove it, or use `api: completions`", "only OpenAI's format has batches, and the service %s has `api: %s`", s.Name, s.Wire.Name)
	}
	if s.Batch != nil && (s.Free || service.IsLocal(s.URL)) && !strings.HasPrefix(s.URL, Mock) {
		n.Warnf("remove it", "`batch` makes calls wait, and the models of the service %s cost nothing", s.Name)
	}
}
