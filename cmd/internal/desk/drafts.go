package desk

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
)

// draftsName is the folder of unsaved edits of scenarios in the data folder.
const draftsName = "drafts"

// draft is the unsaved edits of a scenario, by file.
type draft struct {
	Name   string            `json:"name"`
	At     time.Time         `json:"at"`
	Texts  map[string][]byte `json:"texts"`
	Stamps map[string]string `json:"stamps"` // of the edited files
}

func (d editorDesk) draftPath(name string) string {
	return filepath.Join(d.data, draftsName, authoring.Stamp([]byte(name))+".json")
}

// keepDraft stores edits; without edits it deletes the draft.
func (d editorDesk) keepDraft(e *authoring.Edit) error {
	path := d.draftPath(e.Name)
	if len(e.Texts) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	kept := draft{Name: e.Name, At: time.Now(), Texts: e.Texts, Stamps: map[string]string{}}
	for name := range e.Texts {
		var err error
		if kept.Stamps[name], err = e.Stamp(name); err != nil {
			return err
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return write(path, text)
}

// draft returns the draft of a scenario; nil if there is none or it is unreadable.
func (d editorDesk) draft(name string) *draft {
	text, err := os.ReadFile(d.draftPath(name))
	var kept draft
	if err != nil || json.Unmarshal(text, &kept) != nil || len(kept.Texts) == 0 {
		return nil
	}
	return &kept
}

// drafts returns the names of the scenarios with drafts.
func (d editorDesk) drafts() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(d.data, draftsName)) // without the folder there are none
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(d.data, draftsName, e.Name()))
		var kept draft
		if err == nil && json.Unmarshal(text, &kept) == nil && len(kept.Texts) > 0 {
			names = append(names, kept.Name)
		}
	}
	return names
}
