// Package journey turns recorded requests into the draft of a scenario: it leaves out what is not part of the journey, finds
// where values come from, replaces credentials by secrets, and measures pauses. It is deterministic and does no input or output.
package journey

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

// Options say how recordings become a draft.
type Options struct {
	Title string
	// Hosts are the hosts of the backend, with the port unless it is the usual one; nil chooses them: see [Hosts].
	Hosts []string
}

// visit is one recording on its way to steps.
type visit struct {
	recording *exchange.Recording
	requests  []request // in the order of calls
	calls     []*call
	found     *sources
	pauses    []time.Duration
	twin      []int // index of the same request in the other recording, or -1
}

// builder makes a draft.
type builder struct {
	draft   *importer.Draft
	visits  []*visit
	vault   *vault
	typed   map[string]bool           // values that were sent before any answer had them
	users   map[string]importer.Value // values that stand for the user
	uuids   map[string]string         // expressions of UUIDs that the client made
	choices []*choice
	missed  map[string]int // for a value, the index of the first answer whose text was not searched for it
}

// Draft makes a draft of recordings of one journey. The first recording is the one that is drafted; the second says which of its
// values change from visit to visit, and further ones only contribute pauses.
//
// A value that an earlier answer had is taken from there, unless the request that had it first was the client's own. With two
// recordings, what is equal in both stays as it is, even if an answer had it too: what two visits have in common is either
// chosen by the user or fixed by the backend, and a literal says so; its note names the answer. Tokens are the exception: they
// are always taken from their answer.
func Draft(recordings []*exchange.Recording, options Options) (*importer.Draft, error) {
	if len(recordings) == 0 {
		return nil, errors.New("there is no recording")
	}
	first := recordings[0]
	b := &builder{
		draft: &importer.Draft{Title: options.Title, Source: first.Source, Notes: slices.Clone(first.Notes)},
		typed: make(map[string]bool), users: make(map[string]importer.Value), uuids: make(map[string]string), missed: make(map[string]int),
	}
	b.vault = &vault{draft: b.draft, names: make(map[string]string)}
	if len(recordings) > 1 {
		b.draft.Source = fmt.Sprintf("%d recordings: %s", len(recordings), first.Source)
	}
	hosts := options.Hosts
	if hosts == nil {
		for _, h := range Hosts(recordings) {
			if h.Use {
				hosts = append(hosts, h.Name)
			}
		}
	}
	if err := b.read(recordings, hosts); err != nil {
		return nil, err
	}
	b.draft.Title = cmp.Or(options.Title, first.Title, titleOf(b.draft.Services))
	b.name()
	b.align()
	recognizer{b}.recognizeUsers()
	recognizer{b}.recognizeUUIDs()
	for _, c := range b.visits[0].calls {
		for _, s := range c.slots {
			b.resolve(c, s)
		}
	}
	b.choose()
	b.assemble()
	b.pace()
	signer{b}.authenticate()
	signer{b}.rememberCookies()
	b.share()
	b.finish()
	return b.draft, nil
}

// read filters the recordings and reads their requests.
func (b *builder) read(recordings []*exchange.Recording, hosts []string) error {
	for i, r := range recordings {
		dropped := &drops{}
		v := &visit{recording: r, requests: withoutMistyped(keep(r, hosts, dropped), dropped)}
		if i == 0 {
			b.draft.Dropped = dropped.list
		}
		if len(v.requests) == 0 {
			if silent := silentHosts(r, hosts); i == 0 && silent != "" {
				return fmt.Errorf("the recording has no answer: %s. Start the backend, and record again", silent)
			}
			if i == 0 {
				return fmt.Errorf("none of the %d recorded requests goes to a backend: %s. Choose the hosts of your backend", len(r.Exchanges), reasons(dropped.list))
			}
			b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("Recording %d has no requests to the same hosts and was not used.", i+1))
			continue
		}
		if r.Partial != "" {
			b.draft.Partial = strings.TrimSpace(b.draft.Partial + " " + r.Partial)
		}
		for j := range v.requests {
			v.calls = append(v.calls, newCall(&v.requests[j], j, b.service(v.requests[j].url)))
		}
		v.found = answers(v.calls)
		b.visits = append(b.visits, v)
	}
	return nil
}

// reasons lists why requests were left out.
func reasons(list []importer.Dropped) string {
	counts := make(map[string]int)
	var names []string
	for _, d := range list {
		if counts[d.Reason] == 0 {
			names = append(names, d.Reason)
		}
		counts[d.Reason] += d.Count
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%d × %s", counts[n], n)
	}
	return strings.Join(names, ", ")
}

// service returns the index of the service at a URL.
func (b *builder) service(u *url.URL) int {
	base := u.Scheme + "://" + u.Host
	unknown := strings.HasSuffix(u.Host, unknownHost)
	if unknown {
		base = ""
	}
	for i, s := range b.draft.Services {
		if s.URL == base && (base != "" || s.Name == serviceName(u.Host)) {
			return i
		}
	}
	name := serviceName(u.Host)
	taken := make(map[string]int)
	for _, s := range b.draft.Services {
		taken[s.Name] = 1
	}
	b.draft.Services = append(b.draft.Services, importer.Service{Name: unique(name, taken), URL: base})
	if unknown {
		b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("The source does not say the address of the service %s.", name))
	}
	return len(b.draft.Services) - 1
}

var hostNumber = regexp.MustCompile(`^[\d.:\[\]a-f]+$`)

// serviceName names a service after its host: shop of www.shop.example, api of api.shop.example.
func serviceName(host string) string {
	host = strings.TrimSuffix(host, unknownHost)
	if site(host) == "localhost" || hostNumber.MatchString(host) {
		return "backend"
	}
	name, _, _ := strings.Cut(host, ":")
	labels := strings.Split(name, ".")
	if labels[0] == "www" && len(labels) > 1 {
		labels = labels[1:]
	}
	return cmp.Or(snake(labels[0]), "backend")
}

func titleOf(services []importer.Service) string {
	if len(services) > 0 && services[0].URL != "" {
		if u, err := url.Parse(services[0].URL); err == nil {
			return "Visit to " + u.Host
		}
	}
	return "Visit"
}

// name sets the IDs and names of steps.
func (b *builder) name() {
	for i, v := range b.visits {
		ids, names := make(map[string]int), make(map[string]int)
		for _, c := range v.calls {
			for j, s := range c.slots {
				if s.place == inPath && c.shape[j] != "{id}" && weigh(s.text) != trivial {
					if from := b.best(v, c, s, s.text); from != nil && agreement(s, from, v) > 1 {
						c.shape[j] = "{id}"
					}
				}
			}
			operation := c.operation()
			id := c.Method + " /" + strings.Join(c.shape, "/") + operation
			if ids[id]++; ids[id] > 1 {
				id += " #" + itoa(ids[id])
			}
			c.step.ID = id
			if i > 0 {
				continue
			}
			name := stepName(c.Method, c.shape)
			if title := snake(c.Title); c.Title != "" && len(title) < 40 && title != "" && !strings.Contains(c.Title, "/") {
				name = title
			}
			if operation != "" {
				name = snake(operation)
			}
			c.step.Name = unique(name, names)
			c.step.Title = cmp.Or(c.step.Title, shorten(c.Method+" "+"/"+strings.Join(c.shape, "/")+operation))
		}
	}
}

var graphqlName = regexp.MustCompile(`"operationName"\s*:\s*"(\w+)"`)

// operation returns the name of a GraphQL operation, with a space in front, or "".
func (c *call) operation() string {
	if !strings.Contains(c.Request.Body[:min(len(c.Request.Body), 1<<16)], "operationName") {
		return ""
	}
	if m := graphqlName.FindStringSubmatch(c.Request.Body); m != nil {
		return " " + m[1]
	}
	return ""
}

// assemble writes paths and expected statuses, and collects the steps.
func (b *builder) assemble() {
	for _, c := range b.visits[0].calls {
		c.step.Path = joinPath(c.path)
		status := c.answer().Status
		switch {
		case status == 0 || status >= 200 && status < 300 || status == 304:
		case status >= 500 || status == 429:
			c.note(fmt.Sprintf("The recording has the status %d here; the step expects success.", status))
		default:
			c.step.Expect = []int{status}
		}
		for _, f := range c.files {
			if !slices.ContainsFunc(b.draft.Files, func(old importer.File) bool { return old.Name == f.Name }) {
				b.draft.Files = append(b.draft.Files, f)
			}
		}
	}
}

// joinPath joins segments to a text.
func joinPath(segments []importer.Value) importer.Value {
	var parts []importer.Value
	text := ""
	flush := func() {
		if text != "" {
			parts = append(parts, importer.Value{Literal: text})
		}
		text = ""
	}
	add := func(v importer.Value) {
		if s, ok := v.Literal.(string); ok && v.Note == "" {
			text += s
			return
		}
		flush()
		parts = append(parts, v)
	}
	for _, s := range segments {
		text += "/"
		if s.Parts == nil {
			add(s)
		}
		for _, p := range s.Parts {
			add(p)
		}
	}
	if len(parts) == 0 {
		return importer.Value{Literal: text}
	}
	flush()
	return importer.Value{Parts: parts}
}

// share moves what all steps of a service send to the service: headers, and the API key in a query.
func (b *builder) share() {
	for i := range b.draft.Services {
		s := &b.draft.Services[i]
		var steps []*importer.Step
		for _, c := range b.visits[0].calls {
			if c.service == i && !c.dropped {
				steps = append(steps, &c.step)
			}
		}
		if len(steps) == 0 {
			continue
		}
		for _, h := range slices.Clone(steps[0].Headers) {
			if !shareable(h) || len(steps) == 1 && h.Value.Secret == "" || !all(steps, h, headersOf) {
				continue
			}
			remove(steps, h, headersOf)
			if s.Auth.Request != nil {
				remove([]*importer.Step{s.Auth.Request}, h, headersOf)
			}
			if h.Value.Secret != "" && s.Auth.Kind == importer.NoAuth {
				s.Auth = importer.Auth{Kind: importer.Header, Name: h.Name, Secret: h.Value.Secret}
				continue
			}
			s.Headers = append(s.Headers, h)
		}
		for _, q := range slices.Clone(steps[0].Query) {
			if q.Value.Secret != "" && s.Auth.Kind == importer.NoAuth && all(steps, q, queryOf) {
				remove(steps, q, queryOf)
				s.Auth = importer.Auth{Kind: importer.Query, Name: q.Name, Secret: q.Value.Secret}
			}
		}
	}
}

func headersOf(s *importer.Step) *[]importer.Pair { return &s.Headers }

func queryOf(s *importer.Step) *[]importer.Pair { return &s.Query }

// all reports whether all steps have a pair.
func all(steps []*importer.Step, p importer.Pair, of func(*importer.Step) *[]importer.Pair) bool {
	for _, s := range steps {
		if !slices.ContainsFunc(*of(s), func(o importer.Pair) bool { return o.Name == p.Name && same(o.Value, p.Value) }) {
			return false
		}
	}
	return true
}

// remove removes a pair from steps. Slices are copied, because values of the journey point into them.
func remove(steps []*importer.Step, p importer.Pair, of func(*importer.Step) *[]importer.Pair) {
	for _, s := range steps {
		*of(s) = slices.DeleteFunc(slices.Clone(*of(s)), func(o importer.Pair) bool { return o.Name == p.Name && same(o.Value, p.Value) })
	}
}

// shareable reports whether a header may be sent with every request: its value needs no answer, and it does not describe a body.
func shareable(h importer.Pair) bool {
	return h.Value.From == nil && h.Value.Parts == nil && h.Value.Open == nil && !strings.HasPrefix(h.Name, "Content-") && h.Name != "Origin" && h.Name != "Referer" &&
		(h.Value.Expr == "" || strings.HasPrefix(h.Value.Expr, "session.") || strings.HasPrefix(h.Value.Expr, "agent."))
}

func same(a, b importer.Value) bool {
	return a.Literal == b.Literal && a.Expr == b.Expr && a.Secret == b.Secret
}

// finish collects the steps and removes credentials from all texts.
func (b *builder) finish() {
	for _, c := range b.visits[0].calls {
		if !c.dropped {
			b.draft.Steps = append(b.draft.Steps, c.step)
		}
	}
	b.vault.scrub()
}
