package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/ui/editor"
)

// editorDesk serves the editor.
type editorDesk struct{ *Desk }

var _ editor.Desk = editorDesk{}

// edits are the extensions of files that can be edited in addition to the scenario's own file.
var edits = []string{".star"}

// file reads a saved file; one that does not exist yet is empty.
func file(e *authoring.Edit, name string) (editor.File, error) {
	stamp, err := e.Stamp(name)
	if err != nil || stamp == "" {
		return editor.File{Name: name}, err
	}
	text, err := e.Original(name)
	return editor.File{Name: name, Text: text, Stamp: authoring.Stamp(text)}, err
}

// load reads a scenario as edited. It drops given parameters that are unknown or invalid.
func (d editorDesk) load(o editor.Order) (e *authoring.Edit, s *scenario.Scenario, err error) {
	e = &authoring.Edit{Name: o.Name, Texts: o.Texts}
	connectors, err := authoring.Connectors(d.data)
	if err != nil {
		return e, nil, err
	}
	x := scenario.Extras{Parameters: o.Given, Connectors: connectors}
	if s, err = e.Load(x); err == nil || len(o.Given) == 0 {
		return e, s, err
	}
	if _, given := errors.AsType[*engine.FieldError](err); given {
		x.Parameters = nil
		s, err = e.Load(x)
	}
	return e, s, err
}

// Templates lists the templates for new scenarios.
func (d editorDesk) Templates(context.Context) ([]editor.Template, error) {
	var all []editor.Template
	for _, name := range assets.Templates {
		_, s, err := d.load(editor.Order{Name: name})
		if err != nil {
			return nil, err
		}
		all = append(all, editor.Template{Name: name, Title: s.Title, About: s.About})
	}
	return all, nil
}

// Open reads a scenario's files.
func (d editorDesk) Open(_ context.Context, name string) (*editor.Document, error) {
	e, _, _ := d.load(editor.Order{Name: name}) // Check reports the errors
	own, err := file(e, e.File())
	if err != nil {
		return nil, err
	}
	if own.Stamp == "" {
		return nil, fmt.Errorf("there is no file %s", name)
	}
	doc := &editor.Document{Name: name, BuiltIn: e.BuiltIn(), New: e.IsTemplate(), Files: append([]editor.File{own}, others(e)...)}
	kept := d.draft(name)
	if kept == nil {
		return doc, nil
	}
	differs := false
	doc.Draft = &editor.Draft{At: kept.At, Texts: kept.Texts}
	for file, text := range kept.Texts {
		now, err := e.Stamp(file)
		if err != nil {
			return nil, err
		}
		doc.Draft.Outdated = doc.Draft.Outdated || now != kept.Stamps[file]
		differs = differs || now != authoring.Stamp(text)
	}
	if !differs { // another program has saved the same text
		doc.Draft = nil
		return doc, d.keepDraft(e)
	}
	return doc, nil
}

// others returns the editable files of a scenario except for its own file.
func others(e *authoring.Edit) (all []editor.File) {
	for _, name := range e.Files() {
		if name == e.File() || !slices.Contains(edits, path.Ext(name)) {
			continue
		}
		if f, err := file(e, name); err == nil { // an error is unlikely, because the file was read a moment ago
			all = append(all, f)
		}
	}
	return all
}

// Check checks a scenario as edited.
func (d editorDesk) Check(_ context.Context, o editor.Order) (f editor.Findings, err error) {
	e, s, err := d.load(o)
	f.Files = others(e)
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		f.Problems, err = mistakes.Problems(), nil
	} else if err == nil {
		f.Agents, f.Problems, f.Fields = s.Agents, s.Warnings(), s.AgentFields()
	}
	return f, err
}

// Save writes files.
func (d editorDesk) Save(_ context.Context, name string, files []editor.File, over bool) ([]editor.File, error) {
	e := &authoring.Edit{Name: name}
	var others []string
	for _, f := range files {
		now, err := e.Stamp(f.Name)
		if err != nil {
			return nil, err
		}
		if now != f.Stamp && now != authoring.Stamp(f.Text) {
			others = append(others, f.Name)
		}
	}
	if len(others) > 0 && !over {
		return nil, &editor.Conflict{Files: others}
	}
	saved, own := slices.Clone(files), e.IsOwn(d.data)
	for i, f := range files {
		if err := e.Write(f.Name, f.Text); err != nil {
			return nil, fmt.Errorf("save %s: %w", f.Name, err)
		}
		if own {
			if err := app.Consents(d.data).Write(f.Text); err != nil {
				return nil, err
			}
		}
		saved[i].Stamp = authoring.Stamp(f.Text)
	}
	return saved, nil
}

// SaveAs writes the scenario into a file, and its other files into the same folder.
func (d editorDesk) SaveAs(_ context.Context, o editor.Order, path string, over bool) (string, error) {
	e, _, err := d.load(o)
	if _, mistaken := errors.AsType[*scenario.Mistakes](err); err != nil && !mistaken {
		return "", err
	} else if mistaken {
		saved, _, _ := d.load(editor.Order{Name: o.Name})
		e.AddFiles(saved.Files())
	}
	e.AddFiles(slices.Collect(maps.Keys(o.Texts)))
	there, err := e.Copy(path, over)
	if len(there) > 0 {
		return "", &editor.Conflict{Files: there}
	}
	if err == nil && e.IsOwn(d.data) {
		err = e.MarkOwn(d.data)
	}
	return path, err
}

// Changed returns the files that have changed on disk.
func (d editorDesk) Changed(_ context.Context, name string, files []editor.File) (changed []editor.File, err error) {
	e := &authoring.Edit{Name: name}
	for _, f := range files {
		now, err := file(e, f.Name)
		if err != nil {
			return nil, err
		}
		if now.Stamp != f.Stamp && now.Stamp != "" { // saving restores a deleted file
			changed = append(changed, now)
		}
	}
	return changed, nil
}

// Keep stores a draft.
func (d editorDesk) Keep(_ context.Context, o editor.Order) error {
	return d.keepDraft(&authoring.Edit{Name: o.Name, Texts: o.Texts})
}

// Put writes values into the scenario's own file.
func (d editorDesk) Put(_ context.Context, o editor.Order, v editor.Values) (string, []byte, error) {
	e, s, err := d.load(o)
	if err != nil {
		return "", nil, err
	}
	text, err := s.Keep(scenario.Kept(v))
	return e.File(), bytes.Clone(text), err
}

// trial turns an order into a trial of app.
func (d editorDesk) trial(t editor.Trial) (l app.Launch, err error) {
	e := &authoring.Edit{Name: t.Name, Texts: t.Texts}
	connectors, err := authoring.Connectors(d.data)
	if err != nil {
		return l, err
	}
	s, err := e.Load(scenario.Extras{Parameters: t.Given, Connectors: connectors})
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		return l, fmt.Errorf("the scenario has errors: %w", mistakes)
	}
	if err != nil {
		return l, err
	}
	l = app.Launch{Services: app.Services{Scenario: s, Data: d.data, Remote: d.remote}, Allow: t.Allow, Trusted: e.IsOwn(d.data)}
	if t.Settings != nil {
		l.Settings = *t.Settings
	} else if l.Settings, err = setupDesk(d).settings(&begun{Scenario: s}); err != nil {
		return l, err
	}
	config.Schedule(&l.Settings, s)
	return l, nil
}

// Unallowed returns the addresses that the file of a trial may not call yet.
func (d editorDesk) Unallowed(_ context.Context, t editor.Trial) ([]engine.Destination, error) {
	l, err := d.trial(t)
	if err != nil {
		return nil, err
	}
	return l.Permits().Unallowed(), nil
}

// Try runs a session.
func (d editorDesk) Try(ctx context.Context, t editor.Trial) (*engine.Trial, error) {
	l, err := d.trial(t)
	if err != nil {
		return nil, err
	}
	return l.Try(ctx, t.Agent)
}
