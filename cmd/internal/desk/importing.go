package desk

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/importing"
	"github.com/throng-sim/throng/cmd/internal/app/recorder"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/ui/wizard"
)

// importDesk serves the dialog for a scenario of the user's own backend.
type importDesk struct{ *Desk }

var _ wizard.Desk = importDesk{}

// headSize is how much of a file decides what it is, in bytes.
const headSize = 64 << 10

// Accepts reports whether a scenario can be made from a file.
func (d importDesk) Accepts(path string) bool {
	kind, err := kindOf(path)
	return err == nil && kind != importer.Unknown && kind != importer.Scenario
}

// kindOf returns what a file is.
func kindOf(path string) (importer.Kind, error) {
	f, err := os.Open(path)
	if err != nil {
		return importer.Unknown, err
	}
	defer func() { _ = f.Close() }() // it was only read
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	return importer.Detect(path, head), err
}

// Read reads a source.
func (d importDesk) Read(ctx context.Context, r wizard.Request) (*wizard.Found, error) {
	o := importing.Options{Source: r.Place, Text: r.Text, Users: r.Users}
	kind := importer.OpenAPI
	switch {
	case r.Text != nil:
		kind = importer.Detect("", r.Text)
	case !importing.IsAddress(r.Place):
		kind, _ = kindOf(r.Place) // Read reports the error
	}
	if r.CA != "" {
		text, err := os.ReadFile(r.CA)
		if err != nil {
			return nil, err
		}
		o.CA = text
	}
	if r.Second != nil {
		file, remove, err := d.fileOf(r.Second)
		if err != nil {
			return nil, err
		}
		defer remove()
		o.Second = file
	}
	draft, err := importing.Read(ctx, o)
	if err != nil {
		return nil, forWindow(err)
	}
	return &wizard.Found{Draft: draft, Recorded: kind == importer.HAR || kind == importer.CURL}, nil
}

// fileOf returns a file with a source, and what removes it if it was made for this.
func (d importDesk) fileOf(s *wizard.Source) (path string, remove func(), err error) {
	if s.Text == nil {
		return s.Place, func() {}, nil
	}
	if path, err = d.fresh(); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(filepath.Dir(path)) } // the next start removes what is left
	if err = os.WriteFile(path, s.Text, 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// recordings is the folder of recordings in progress. They contain credentials, so only their owner may read them, and nothing stays there.
func (d importDesk) recordings() string { return filepath.Join(d.data, "recordings") }

// forget deletes recordings that were not used, as far as that is possible: a recorder that still runs may keep its file open.
func (d importDesk) forget() { _ = os.RemoveAll(d.recordings()) }

// fresh returns the path of a new file for a recording.
func (d importDesk) fresh() (string, error) {
	if err := os.MkdirAll(d.recordings(), 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(d.recordings(), "recording-*")
	return filepath.Join(dir, "recording.har"), err
}

// windowWords replaces what errors say about the terminal.
var windowWords = strings.NewReplacer(
	"trust its CA with --ca FILE", "choose its CA certificate with “Certificate…”",
	", for example --listen 127.0.0.1:0", "",
	", or add --anywhere", "",
	"run it: throngctl run ", "choose “Open file…” in Setup to open ",
)

// forWindow returns an error in the words of the window.
func forWindow(err error) error {
	if none, ok := errors.AsType[*importing.NotFoundError](err); ok {
		return &engine.FieldError{
			Problem: none.Address + " has no API description, and none is at the usual places below it",
			Hint:    "type the address of its OpenAPI document, choose a file, or record a visit",
		}
	}
	if of, ok := errors.AsType[*engine.FieldError](err); ok {
		field := ""
		if of.Field == "listen" || of.Field == "target" {
			field = of.Field
		}
		return &engine.FieldError{Field: field, Problem: windowWords.Replace(of.Problem), Hint: windowWords.Replace(of.Hint)}
	}
	return err
}

// Chain returns the chain of a scenario.
func (d importDesk) Chain(_ context.Context, text []byte, files []importer.File) (engine.Graph, error) {
	const name = "import.throng.yaml"
	e := &authoring.Edit{Name: filepath.Join(d.data, "import", name), Texts: map[string][]byte{name: text}}
	for _, f := range files {
		e.Texts[f.Name] = f.Text
	}
	connectors, err := authoring.Connectors(d.data)
	if err != nil {
		return engine.Graph{}, err
	}
	s, err := e.Load(scenario.Extras{Connectors: connectors})
	if err != nil {
		return engine.Graph{}, err
	}
	return s.Chain.Graph(), nil
}

// Propose returns a file in the documents folder that does not exist yet.
func (d importDesk) Propose(_ context.Context, title string) string {
	name := strings.ReplaceAll(importer.Identifier(strings.ToLower(title)), "_", "-")
	dir := documents()
	for n := 1; ; n++ {
		file := cmp.Or(name, "scenario") + ".throng.yaml"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.throng.yaml", cmp.Or(name, "scenario"), n)
		}
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		} else if err != nil {
			return filepath.Join(dir, file)
		}
	}
}

// documents returns the user's folder for documents, or otherwise the home folder.
func documents() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	dir := filepath.Join(home, "Documents")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return home
}

// Plan checks where a draft would be saved.
func (d importDesk) Plan(_ context.Context, draft *importer.Draft, path string) (p wizard.Plan, err error) {
	if !filepath.IsAbs(path) {
		return p, &engine.FieldError{Problem: "the path does not begin with a folder", Hint: "for example " + filepath.Join(documents(), filepath.Base(path))}
	}
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".ai":
	default:
		return p, &engine.FieldError{Problem: "the name of a scenario ends in .throng.yaml"}
	}
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, err
	}
	p.Exists = true
	if p.Merged, err = draft.Merge(old); err != nil {
		return p, &engine.FieldError{Problem: "the file exists, and the journey cannot be merged into it: " + err.Error(), Hint: "choose another file"}
	}
	return p, nil
}

// Known returns where secrets are found.
func (d importDesk) Known(_ context.Context, names []string) map[string]string {
	known := map[string]string{}
	for _, name := range names {
		if _, place, err := (secrets.Finder{}).Find("secret", name); err == nil && place != "" {
			known[name] = place
		}
	}
	return known
}

// Save writes a draft as a scenario.
func (d importDesk) Save(_ context.Context, draft *importer.Draft, path string) (wizard.Saved, error) {
	s, err := importing.Save(draft, path, d.data)
	if err != nil {
		return wizard.Saved{}, err
	}
	return wizard.Saved{File: s.File, Unkept: s.Unkept}, nil
}

// Record starts a recording.
func (d importDesk) Record(ctx context.Context, r wizard.Recording, each func(wizard.Exchange)) (wizard.Recorder, error) {
	cfg := recorder.Config{Listen: r.Listen, Target: r.Target, Version: about.Number, OnExchange: func(x exchange.Exchange) {
		each(wizard.Exchange{Request: x.Method + " " + pathOf(x.URL), Status: x.Status, Failure: x.Failure, Took: x.Duration})
	}}
	if r.CA != "" {
		text, err := os.ReadFile(r.CA)
		if err != nil {
			return nil, err
		}
		cfg.CAs = x509.NewCertPool()
		if !cfg.CAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s contains no PEM certificate", r.CA)
		}
	}
	var err error
	if cfg.File, err = d.fresh(); err != nil {
		return nil, err
	}
	got, err := recorder.Start(cfg)
	if err != nil {
		return nil, errors.Join(forWindow(err), os.RemoveAll(filepath.Dir(cfg.File)))
	}
	return recording{got, cfg.File, got.Trouble(ctx)}, nil
}

// pathOf returns the path and the query of an address.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.RequestURI()
}

// recording is a recording in progress.
type recording struct {
	*recorder.Recorder
	file    string
	trouble string
}

// Address implements [wizard.Recorder].
func (r recording) Address() string { return r.URL() }

// Trouble implements [wizard.Recorder].
func (r recording) Trouble() string { return r.trouble }

// Stop implements [wizard.Recorder]. The file is deleted, because it contains credentials.
func (r recording) Stop() (s wizard.Source, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(r.file))) }()
	summary, err := r.Recorder.Stop()
	if err != nil {
		return s, err
	}
	if summary.File == "" {
		return s, errors.New("no request was recorded")
	}
	text, err := os.ReadFile(r.file)
	return wizard.Source{Text: text}, err
}
