package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Mock is the scheme of services that Throng brings along: mock:shop.
const Mock = "mock:"

// serviceReader reads services and connectors.
type serviceReader struct{ *reader }

func (r serviceReader) services(n *doc.Node) {
	r.chains.Services = map[string]*chain.Service{}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		expr.CheckName(e.Key, name, "a service")
		if of := r.chains.Services[name]; of != nil && of.For != nil {
			e.Key.Errorf("rename it", "the tokens of %s come from a service that is called %s, too", of.For.Name, name)
		}
		s := r.service(name, e.Value)
		r.chains.Services[name] = s
		r.s.Services = append(r.s.Services, s)
	}
}

func (r serviceReader) service(name string, n *doc.Node) *chain.Service {
	s := &chain.Service{Name: name}
	if n.Get("kind").Kind() == doc.Scalar && n.Get("kind").Text() == "postgres" {
		r.postgres(s, n)
		return s
	}
	n.Require("kind")
	if k := n.Get("kind"); k != nil {
		s.Kind = k.OneOf("http", "llm", "postgres", toolServer)
	}
	atOnce := "connections"
	switch s.Kind {
	case "llm":
		n.Fields("kind", "provider", "url", "model", "embedding_model", "api", "answers", "reasoning_effort", "extra", "batch", "headers", "auth", "limits", "tls")
		r.models(s, n)
		r.batches(s, n.Get("batch"))
		atOnce = "concurrent"
	case "http":
		n.Fields("kind", "url", "openapi", "headers", "auth", "cookies", "redirects", "limits", "repeats", "verify", "tls", "proxy", "traceparent")
		n.Require("url")
		s.Cookies = n.Get("cookies").OneOf("on", "off") == "on"
		s.Follow = n.Get("redirects").OneOf(chain.Redirects...) == chain.Redirects[0]
		s.Spans.Propagate = n.Get("traceparent").OneOf("on", "off") == "on"
		r.proxy(s, n.Get("proxy"))
		if u := n.Get("url"); u != nil {
			s.URL = r.url(u, "shop")
		}
		r.document(s, n)
		r.auth(s, n.Get("auth"))
		s.Repeats = r.chains.Repeats(s, n, outside)
	case toolServer:
		r.toolServer(s, n)
	}
	r.tls(s, n.Get("tls"))
	s.Headers = r.chains.Headers(s, n.Get("headers"), outside)
	r.limits(s, n.Get("limits"), atOnce)
	return s
}

// limits reads the limits of a service; atOnce is its name for the number of concurrent calls.
func (r serviceReader) limits(s *chain.Service, l *doc.Node, atOnce string) {
	keys := []string{atOnce, "keepalive", "idle", "timeout", "rate", "max_rate", "burst", "pace", "per", "buckets"}
	if s.Kind == "http" || s.Kind == toolServer {
		keys = append(keys, "request_size", "response_size")
	}
	l.Fields(keys...)
	s.Limits.RequestSize, s.Limits.ResponseSize = size(l.Get("request_size"), mostRequest), size(l.Get("response_size"), mostResponse)
	if c := l.Get(atOnce); c != nil {
		s.Limits.Connections = c.Int(1, 100_000)
		r.warnPaid(s, c, s.Limits.Connections >= manyCalls)
	}
	r.pace(s, l, &s.Limits)
	if p := l.Get("per"); p != nil {
		s.Limits.Per = service.Per(1 + max(slices.Index(service.PerNames, p.OneOf(service.PerNames...)), 0))
	}
	r.buckets(s, l.Get("buckets"))
	if k := l.Get("keepalive"); k != nil {
		s.Limits.Keepalive = k.Int(1, 100_000)
	}
	if i := l.Get("idle"); i != nil {
		s.Limits.Idle = i.Duration(time.Millisecond, 0)
	}
	if t := l.Get("timeout"); t != nil {
		s.Limits.Timeout = t.Duration(time.Millisecond, 0)
		if late := s.Limits.Timeout; s.Kind == "llm" && late > 0 && late < chain.ShortForModels {
			t.Warnf("60s, say", "%s for a model: many answers take longer", s.Limits.Timeout)
		}
	}
}

// The largest limits for the sizes of bodies, in bytes.
const mostRequest, mostResponse = 64_000_000, 256_000_000

const (
	usualRate    = 10 // requests per second to begin with, where only their growth is spoken of
	usualMaxRate = 50
)

// buckets reads the limits of endpoints that share one, by name.
func (r serviceReader) buckets(s *chain.Service, n *doc.Node) {
	for _, e := range n.Entries() {
		b := service.BucketLimits{Name: e.Key.Text()}
		expr.CheckName(e.Key, b.Name, "a bucket")
		e.Value.Fields("match", "rate", "max_rate", "burst", "pace")
		e.Value.Require("match")
		for _, m := range listOf(e.Value.Get("match")) {
			text := m.Text()
			if err := admission.CheckPattern(text); err != nil {
				m.Errorf("`POST /orders`, or `/products/*` for any method, where * is any segment", "%v", err)
			}
			b.Match = append(b.Match, text)
			r.patterns = append(r.patterns, bucketPattern{s, b.Name, text, m})
		}
		r.pace(s, e.Value, &b.Limits)
		s.Limits.Buckets = append(s.Limits.Buckets, b)
	}
}

// bucketPattern is a pattern of a bucket, where the file has it.
type bucketPattern struct {
	of      *chain.Service
	bucket  string
	pattern string
	at      *doc.Node
}

// warnUnmatched looks for patterns of buckets that fit no request of any chain: they limit nothing.
func (r serviceReader) warnUnmatched() {
	if r.report.Err() != nil { // what has mistakes is not known
		return
	}
	for _, p := range r.patterns {
		ends, known := r.chains.Endpoints(p.of)
		if !known || slices.ContainsFunc(ends, func(e string) bool { return admission.Matches(p.pattern, e) }) {
			continue
		}
		hint := "no step sends a request to it"
		if len(ends) > 0 {
			hint = "its steps send " + strings.Join(ends[:min(len(ends), 5)], ", ")
		}
		p.at.Warnf(hint, "the bucket %s of the service %s: %q fits no step", p.bucket, p.of.Name, p.pattern)
	}
}

// pace reads how many requests of a service, or of a bucket of it, may start per second, and how that is kept to.
func (r serviceReader) pace(s *chain.Service, l *doc.Node, limits *service.Limits) {
	for key, to := range map[string]*float64{"rate": &limits.Rate, "max_rate": &limits.MaxRate} {
		if f := l.Get(key); f != nil {
			*to = f.Float(0.001, 1_000_000)
			r.warnPaid(s, f, *to >= manyCalls)
		}
	}
	if b := l.Get("burst"); b != nil {
		limits.Burst = b.Int(1, 1_000_000)
	}
	p := l.Get("pace")
	if p != nil {
		limits.Pace = pace.Mode(max(slices.Index(pace.Modes, p.OneOf(pace.Modes...)), 0))
	}
	adapts := limits.Pace == pace.Adaptive
	if p != nil && adapts && limits.Rate == 0 && limits.MaxRate == 0 {
		limits.MaxRate = usualMaxRate
	}
	switch {
	case !adapts && limits.Rate == 0:
		p.Errorf("rate: 10, requests per second", "a %s pace wants a rate", limits.Pace)
	case l.Get("burst") != nil && limits.Pace != pace.Bucket:
		l.Get("burst").Errorf("add `pace: bucket`", "only a token bucket has a burst")
	case l.Get("max_rate") != nil && !adapts:
		l.Get("max_rate").Errorf("", "a %s pace does not grow: it has no greatest rate", limits.Pace)
	case limits.MaxRate > 0 && limits.Rate == 0:
		limits.Rate = min(limits.MaxRate, usualRate)
	case limits.MaxRate > 0 && limits.MaxRate < limits.Rate:
		l.Get("max_rate").Errorf("", "the greatest rate is below the one to start with")
	}
}

// manyCalls is a limit that is likely a mistake for a service that costs money: concurrent calls, or calls per second.
const manyCalls = 1000

// warnPaid tells of a limit that does not limit what is paid for.
func (r serviceReader) warnPaid(s *chain.Service, n *doc.Node, many bool) {
	if many && s.Kind == "llm" && !s.Free && !service.IsLocal(s.URL) && !strings.HasPrefix(s.URL, Mock) {
		n.Warnf("10 to 50, and raise it while you watch the cost", "%s hardly limits the calls, and the service %s is paid for", n.Text(), s.Name)
	}
}

// outside is what the headers and the user of a service can see.
var outside = []string{"agent", "session", "now"}

// agentID is the template of an agent's id.
func (r serviceReader) agentID() *script.Template {
	t, err := r.env.Template("${agent.id}", outside)
	if err != nil {
		panic(err) // it compiles
	}
	return t
}

// auth reads how to sign in to a service. The mock uses the user's name, by default the agent's id, or a login; any
// other service uses a token.
func (r serviceReader) auth(s *chain.Service, n *doc.Node) {
	s.User = r.agentID()
	ways := append([]string{"user", "bearer", "jwt", "login", "oauth2"}, credential.KeyKinds...)
	n.Fields(ways...)
	mocks := strings.HasPrefix(s.URL, Mock)
	switch which := n.Only(ways...); {
	case which.Key == nil:
	case slices.Contains(credential.KeyKinds, which.Key.Text()):
		r.chains.Key(s, which.Key.Text(), which.Value, outside)
	case which.Key.Text() == "jwt":
		r.chains.JWT(s, which.Value, outside)
	case which.Key.Text() == "login":
		r.chains.Login(s, which.Value, outside, r.tokenService(s))
	case which.Key.Text() == "oauth2":
		r.chains.OAuth2(s, which.Value, outside, r.tokenService(s))
	case which.Key.Text() == "user":
		if user := r.chains.Template(which.Value, outside); user != nil {
			s.User = user
		}
		if !mocks && s.URL != "" {
			n.Warnf("other backends: `auth: {bearer: secret:NAME}`", "auth.user is how the mock signs in")
		}
	default:
		s.Bearer = expr.SecretName(which.Value)
	}
}

// url reads an address; mock is what Throng brings along for services of its kind.
func (r serviceReader) url(n *doc.Node, mock string) string {
	text, ok := r.constantText(n)
	if !ok {
		return ""
	}
	if name, ok := strings.CutPrefix(text, Mock); ok {
		switch {
		case mock == "":
			n.Errorf("https://tools.example.com/mcp", "there is no mock of an MCP server")
		case name == mock:
		case mock == "shop" && isDocument(name):
		case mock == "shop":
			n.Errorf("there is mock:shop, and mock:openapi.yaml for a mock of that document", "there is no mock %q", name)
		default:
			n.Errorf("there is "+Mock+mock, "there is no mock %q", name)
		}
		return text
	}
	if _, err := service.CheckAddress(text); err != nil {
		hint := "https://staging.example.com; for a token use `auth`"
		if mock != "" {
			hint = Mock + mock + ", or " + hint
		}
		n.Errorf(hint, "%v", err)
	}
	return text
}

// constantText reads a text that no agent changes; parameters may.
func (r *reader) constantText(n *doc.Node) (string, bool) {
	v, ok := r.constant(n)
	if !ok {
		return "", false
	}
	text, err := value.Text(v)
	if err != nil {
		n.Errorf("", "%v", err)
	}
	return text, err == nil
}
