package importing

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/fromopenapi"
	"github.com/throng-sim/throng/engine/openapi"
)

// document makes a draft of an OpenAPI document.
func (o Options) document(ctx context.Context, s source) (*importer.Draft, error) {
	fetcher := o.fetcher()
	fetcher.Other = func(host string) bool {
		return slices.Contains(o.Allow, host) || IsAddress(s.name) && strings.Contains(s.name, "://"+host+"/")
	}
	load := openapi.Options{Location: s.name, Fetch: func(url string) ([]byte, error) { return fetcher.Get(ctx, url) }}
	if !IsAddress(s.name) && s.name != "" {
		root, err := os.OpenRoot(filepath.Dir(s.name))
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		load.Open = root.ReadFile
	}
	d, err := openapi.Load(s.text, load)
	if err != nil {
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, err.Error())}
	}
	with := fromopenapi.Options{Location: s.name, File: documentName(s), Text: s.text}
	var people importer.Draft
	if o.Users != "" {
		if with.Columns, err = o.people(&people); err != nil {
			return nil, err
		}
		with.People = people.People
	}
	draft := fromopenapi.Draft(d, with)
	draft.Files = append(draft.Files, people.Files...)
	if len(draft.Steps) == 0 {
		return nil, &engine.FieldError{Field: "import", Problem: cannotUse(s.name, "the document has no operation that could be used"), Hint: firstNote(draft)}
	}
	return draft, nil
}

func firstNote(d *importer.Draft) string {
	if len(d.Notes) == 0 {
		return ""
	}
	return d.Notes[0]
}

// documentName returns the name of the document's copy in the folder of the scenario.
func documentName(s source) string {
	ending := ".json"
	if text := strings.TrimSpace(string(s.text[:min(len(s.text), 64)])); !strings.HasPrefix(text, "{") {
		ending = ".yaml"
	}
	if name := filepath.Base(s.name); !IsAddress(s.name) && s.name != "" && strings.EqualFold(filepath.Ext(name), ending) {
		return name
	}
	return "openapi" + ending
}
