package scenario

import (
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// toolServer is the kind of services that have tools for models: MCP servers.
const toolServer = "mcp"

// usualToolTime is how long a request to an MCP server may take, by default.
const usualToolTime = 30 * time.Second

// toolServer reads an MCP server. Throng has no mock of one.
func (r serviceReader) toolServer(s *chain.Service, n *doc.Node) {
	n.Fields("kind", "url", "headers", "auth", "limits", "repeats", "tls", "proxy")
	n.Require("url")
	r.proxy(s, n.Get("proxy"))
	if u := n.Get("url"); u != nil {
		if s.URL = r.url(u, ""); strings.HasPrefix(s.URL, Mock) {
			s.URL = ""
		}
	}
	r.auth(s, n.Get("auth"))
	n.Get("repeats").OneOf(chain.SQLRepeats...)
	s.Repeats = r.chains.Repeats(s, n, outside)
	s.Limits.Timeout = usualToolTime
}
