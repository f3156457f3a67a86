package scenario

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// connectorsName is the file name in errors of the connectors from the settings.
const connectorsName = "settings/connectors.yaml"

// connectors reads those of the file. Those of the settings are looked at only for what the file does not define.
func (r serviceReader) connectors(n *doc.Node) {
	entries := n.Entries()
	for _, e := range entries {
		name := e.Key.Text()
		expr.CheckName(e.Key, name, "a connector")
		r.chains.Connector(name, e.Value)
	}
	if r.extras.Connectors != nil {
		r.chains.More = (&shelf{r: r.reader}).connector
	}
}

// shelf is the connectors of the settings, with services that they may name.
type shelf struct {
	r        *reader
	read     bool
	root     *doc.Node
	services map[string]*chain.Service
}

// connector adds a connector from the settings to the scenario, with the services that it names and the scenario does
// not define.
func (s *shelf) connector(name string) {
	if !s.read {
		s.open()
	}
	n := s.root.Get("connectors").Get(name)
	if n == nil {
		return
	}
	s.r.keep(engine.ConnectorsFile, s.r.extras.Connectors)
	s.lend(n)
	s.r.chains.Connector(name, n)
}

func (s *shelf) open() {
	s.read = true
	s.root = doc.Parse(connectorsName, s.r.extras.Connectors, s.r.report)
	s.root.Fields("connectors", "services")
	s.services = map[string]*chain.Service{}
	for _, e := range s.root.Get("services").Entries() {
		name := e.Key.Text()
		expr.CheckName(e.Key, name, "a service")
		s.services[name] = serviceReader{s.r}.service(name, e.Value)
	}
}

// lend adds the services whose names stand anywhere in a connector.
func (s *shelf) lend(n *doc.Node) {
	switch n.Kind() {
	case doc.Map:
		for _, e := range n.Entries() {
			s.lend(e.Value)
		}
	case doc.List:
		for _, item := range n.List() {
			s.lend(item)
		}
	case doc.Scalar:
		name := n.Text()
		service, ok := s.services[name]
		if _, own := s.r.chains.Services[name]; !ok || own {
			return
		}
		s.r.chains.Services[name] = service
		s.r.s.Services = append(s.r.s.Services, service)
	case doc.Absent, doc.Null:
	}
}

// mocked notes what is not defined, and who answers in its place.
func (r serviceReader) mocked() {
	var instead []string
	if r.s.StandIn, instead = r.chains.StandIn(); r.s.StandIn != nil {
		r.keep(engine.MockedSteps, []byte(strings.Join(instead, "\n")))
	}
	r.s.Connectors = r.chains.Connectors()
}

// Mocked lists what the scenario does not define and the mock answers for, such as "connector summarizer".
func (s *Scenario) Mocked() []string { return slices.Clone(s.Source.Mocked()) }
