package answer

import (
	"github.com/throng-sim/throng/cmd/internal/app/importing"
	"github.com/throng-sim/throng/engine/importer"
)

// Import is what a source has and, if a scenario was written, what became of it.
type Import struct {
	Source  string       `json:"source"`
	Partial string       `json:"partial,omitempty"`
	Steps   []ImportStep `json:"steps"`
	Dropped []LeftOut    `json:"left_out"`
	Notes   []string     `json:"notes"`
	File    string       `json:"file,omitempty"`
	Files   []string     `json:"files,omitempty"`
	Secrets []Secret     `json:"secrets,omitempty"`
	importer.Merged
}

// ImportStep is a step that a source offers. Used steps are in the journey, in this order.
type ImportStep struct {
	Name  string   `json:"name"`
	ID    string   `json:"id"`
	Title string   `json:"title,omitempty"`
	Used  bool     `json:"used"`
	Notes []string `json:"notes,omitempty"`
}

// LeftOut is what a source has and the scenario does not.
type LeftOut struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	Count  int    `json:"count,omitempty"`
}

// NewImport returns the JSON form of a draft.
func NewImport(d *importer.Draft) Import {
	j := Import{Source: d.Source, Partial: d.Partial, Steps: []ImportStep{}, Dropped: []LeftOut{}, Notes: append([]string{}, d.Notes...)}
	for i := range d.Steps {
		s := &d.Steps[i]
		j.Steps = append(j.Steps, ImportStep{s.Name, s.ID, s.Title, s.Use, s.Notes})
	}
	for _, x := range d.Dropped {
		j.Dropped = append(j.Dropped, LeftOut(x))
	}
	return j
}

// With returns the import with the files that were written.
func (j Import) With(s *importing.Saved) Import {
	j.File, j.Files = s.File, s.Files
	if s.Merged != nil {
		j.Merged = *s.Merged
	}
	j.Open = s.Open
	for place, names := range map[string][]string{"keychain": s.Kept, "": append(s.Unkept, s.Missing...)} {
		for _, name := range names {
			j.Secrets = append(j.Secrets, Secret{Name: name, Place: place})
		}
	}
	return j
}
