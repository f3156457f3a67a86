package importing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

// attach writes a file of the draft into the scenario's folder, unless it has the same content already.
func (s *Saved) attach(e *authoring.Edit, f importer.File) error {
	old, err := e.Original(f.Name)
	if err == nil && bytes.Equal(old, f.Text) {
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
