package importing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
)

// Saved is what an import wrote.
type Saved struct {
	File   string           // the scenario
	Open   []string         // what a person must decide
	Merged *importer.Merged // set if the file existed
	Files  []string         // other files that were written
	// Kept lists the secrets of the source that are in the keychain now. Unkept are those that no keychain could take, and
	// Missing those that the source does not have.
	Kept, Unkept, Missing []string
}

// Save writes a draft as the scenario at path. If the file exists, the journey is merged into it. data is the data folder, which
// remembers that the file is the user's own.
func Save(d *importer.Draft, path, data string) (*Saved, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d = named(d, filepath.Base(path))
	e := &authoring.Edit{Name: path}
	s := &Saved{File: path}
	var text []byte
	switch old, err := os.ReadFile(path); {
	case err == nil:
		if s.Merged, err = d.Merge(old); err != nil {
			return nil, &engine.FieldError{Field: path, Problem: err.Error(), Hint: "nothing was changed; choose another file, or move this one away"}
		}
		text, s.Open = s.Merged.Text, s.Merged.Open
	case errors.Is(err, fs.ErrNotExist):
		w := d.Write()
		text, s.Open = w.Text, w.Open
	default:
		return nil, err
	}
	for _, f := range d.Files {
		if old, err := e.Original(f.Name); f.Name == d.People && err == nil && !bytes.Equal(old, f.Text) {
			return nil, &engine.FieldError{
				Field: f.Name, Problem: "the folder of the scenario has a different file with this name",
				Hint: "nothing was changed; rename one of them",
			}
		}
	}
	for _, f := range d.Files {
		if err := s.attach(e, f); err != nil {
			return nil, err
		}
	}
	if err := e.Write(filepath.Base(path), text); err != nil {
		return nil, err
	}
	table := consent.Of(data)
	for _, own := range append([]importer.File{{Text: text}}, d.Files...) {
		if err := table.Write(own.Text); err != nil {
			return nil, fmt.Errorf("the scenario was written, but not marked as your own: %w", err)
		}
	}
	s.keep(d.Secrets)
	return s, nil
}

// named returns a draft whose OpenAPI documents have names of their own, so that scenarios in one folder do not share one:
// shop.yaml has shop.openapi.json.
func named(d *importer.Draft, scenario string) *importer.Draft {
	named := *d
	named.Files, named.Services = slices.Clone(d.Files), slices.Clone(d.Services)
	stem := strings.TrimSuffix(strings.TrimSuffix(scenario, filepath.Ext(scenario)), ".throng")
	for i := range named.Services {
		service := &named.Services[i]
		at := slices.IndexFunc(named.Files, func(f importer.File) bool { return f.Name == service.OpenAPI })
		if service.OpenAPI == "" || at < 0 {
			continue
		}
		name := stem + ".openapi" + filepath.Ext(service.OpenAPI)
		if i > 0 {
			name = stem + "-" + service.Name + ".openapi" + filepath.Ext(service.OpenAPI)
		}
		service.OpenAPI, named.Files[at].Name = name, name
	}
	return &named
}

// attach writes a file of the draft into the scenario's folder. OpenAPI documents replace their earlier version; other files
// that are there already stay, because a person may have changed them.
func (s *Saved) attach(e *authoring.Edit, f importer.File) error {
	old, err := e.Original(f.Name)
	if err == nil && (bytes.Equal(old, f.Text) || !strings.Contains(f.Name, ".openapi.")) {
		return nil
	}
	if err := e.Write(f.Name, f.Text); err != nil {
		return err
	}
	s.Files = append(s.Files, f.Name)
	return nil
}

// keep stores the secrets of the source in the keychain.
func (s *Saved) keep(all []importer.Secret) {
	for _, secret := range all {
		if secret.Value == "" {
			if _, place, err := (secrets.Finder{}).Find("secret", secret.Name); err != nil || place == "" {
				s.Missing = append(s.Missing, secret.Name)
			}
			continue
		}
		if err := secrets.Keep(secret.Name, secret.Value); err != nil {
			s.Unkept = append(s.Unkept, secret.Name)
		} else {
			s.Kept = append(s.Kept, secret.Name)
		}
	}
}
