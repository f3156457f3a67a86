// Package fromopenapi makes the draft of a scenario from an OpenAPI document: a journey through the operations whose inputs other
// operations return, in the order create, read, update, delete, with a login first. Operations that may harm a backend, or whose inputs
// have no source, are in the draft but not in the journey, each with the reason.
package fromopenapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// Options say what is known besides the document.
type Options struct {
	// Location is the address or file where the document was found. Addresses of servers count from there.
	Location string
	// File is the name of the document in the folder of the scenario, and Text its content. Without them answers are not checked
	// against their schemas.
	File string
	Text []byte
	// People is a CSV or JSONL file of the agents with these columns, which may be credentials; "" for none.
	People  string
	Columns []string
}

// mostUsed is how many steps the journey has at most, before a person chooses.
const mostUsed = 50

// Draft makes the draft of a scenario.
func Draft(d *openapi.Document, o Options) *importer.Draft {
	b := &builder{document: d, options: o, draft: &importer.Draft{}, byKey: map[string]*operation{}, constants: map[string]bool{}, collections: map[string]bool{}}
	b.describe()
	b.collect()
	b.service()
	signer{b}.credentials()
	binder{b}.bind()
	b.exclude()
	b.order()
	b.steps()
	return b.draft
}

// builder makes one draft.
type builder struct {
	document  *openapi.Document
	options   Options
	draft     *importer.Draft
	ops       []*operation
	byKey     map[string]*operation
	index     sourceIndex
	signs     signIn
	constants map[string]bool // that the draft has

	collections map[string]bool // paths that have one with a parameter below
	described   bool            // the document says how operations sign in
}

// describe fills in what the draft says about the document.
func (b *builder) describe() {
	d := b.document
	version := "OpenAPI " + d.Version
	if d.Version == "2.0" {
		version = "Swagger 2.0"
	}
	b.draft.Title = cmp.Or(d.Title, "Imported API")
	b.draft.Source = strings.TrimSpace(version + ": " + d.Title)
	b.draft.Partial = d.Partial
	b.draft.People = b.options.People
	for _, p := range d.Problems {
		if p.LeftOut {
			b.draft.Dropped = append(b.draft.Dropped, importer.Dropped{What: p.Operation, Reason: reason(p), Count: 1})
			continue
		}
		b.draft.Notes = append(b.draft.Notes, p.String())
	}
	if b.options.File != "" {
		b.draft.Files = append(b.draft.Files, importer.File{Name: b.options.File, Text: b.options.Text})
	}
}

func reason(p openapi.Problem) string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// service fills in the service that all steps use.
func (b *builder) service() {
	s := importer.Service{Name: serviceName(b.document.Title), OpenAPI: b.options.File}
	s.URL = b.address()
	b.draft.Services = []importer.Service{s}
}

// generic are words that say nothing about an API.
var generic = []string{"api", "apis", "swagger", "openapi", "open", "service", "server", "rest", "the", "a", "an", "my", "sample", "example", "demo", "fastapi", "http", "public", "simple", "of", "for", "v1", "v2", "v3"}

func serviceName(title string) string {
	var words []string
	title = strings.NewReplacer("FastAPI", "fastapi", "OpenAPI", "openapi").Replace(title) // each is one word
	for word := range strings.SplitSeq(importer.Identifier(title), "_") {
		if word == "" || slices.Contains(generic, word) || isNumber(word) || len(words) == 2 {
			continue
		}
		words = append(words, word)
	}
	name := strings.Join(words, "_")
	if name == "" || isKeyword(name) || name[0] >= '0' && name[0] <= '9' {
		return "api"
	}
	return name
}

func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// address returns the base URL: the server on the host where the document was found, else the first one.
func (b *builder) address() string {
	found, err := url.Parse(b.options.Location)
	if err != nil || found.Scheme != "http" && found.Scheme != "https" {
		found = nil
	}
	var first string
	servers := b.document.Servers
	if len(servers) == 0 {
		servers = []string{""}
	}
	for _, s := range servers {
		u, err := url.Parse(s)
		if err != nil {
			continue
		}
		if found != nil {
			u = found.ResolveReference(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: cmp.Or(u.Path, "/")})
			u.RawQuery = ""
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			continue
		}
		full := strings.TrimSuffix(u.String(), "/")
		if found != nil && u.Host == found.Host {
			return full
		}
		first = cmp.Or(first, full)
	}
	if found != nil && first != "" {
		b.draft.Notes = append(b.draft.Notes, "The document was found at "+found.Host+", but its server is "+first+".")
	}
	return first
}
