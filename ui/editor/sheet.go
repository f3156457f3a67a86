package editor

import (
	"bytes"
	"path"

	"github.com/throng-sim/throng/ui/internal/code"
)

// sheet is a file that is edited.
type sheet struct {
	File
	form   code.Text // its line endings
	ok     bool      // the file is text
	editor *code.Editor

	made    []byte // the edited content after a number of changes; nil if unknown
	changes int
}

func newSheet(f File) *sheet {
	s := &sheet{editor: code.New()}
	if path.Ext(f.Name) == ".star" {
		s.editor = code.NewStarlark()
	}
	s.load(f)
	return s
}

// load shows the saved file.
func (s *sheet) load(f File) {
	s.File, s.made = f, nil
	s.form, s.ok = code.Parse(f.Text)
	s.editor.ReadOnly = !s.ok
	if s.ok {
		s.editor.SetText(s.form.Shown())
	} else {
		s.editor.SetText("")
	}
}

// text returns the file as edited.
func (s *sheet) text() []byte {
	if !s.ok {
		return s.Text
	}
	if n := s.editor.Changes(); s.made == nil || n != s.changes {
		s.made, s.changes = s.form.Edited(s.editor.Text()), n
	}
	return s.made
}

// edited reports whether the text differs from the file's.
func (s *sheet) edited() bool { return !bytes.Equal(s.text(), s.Text) }

// put replaces the text, as an edit that can be undone.
func (s *sheet) put(text []byte) {
	form, ok := code.Parse(text)
	if !ok || !s.ok {
		return
	}
	s.form, s.made = form, nil
	s.editor.Replace(form.Shown())
}
