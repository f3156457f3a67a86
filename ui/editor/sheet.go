package editor

import (
	"bytes"
	"path"

	"github.com/throng-sim/throng/ui/internal/code"
)

// sheet is one file that is edited.
type sheet struct {
	File
	form   code.Text // how its lines end
	ok     bool      // it is a text
	editor *code.Editor

	made    []byte // the file as it is edited, after so many changes; nil is not known
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

// load shows a file as it is.
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

// text is the file as it is edited.
func (s *sheet) text() []byte {
	if !s.ok {
		return s.Text
	}
	if n := s.editor.Changes(); s.made == nil || n != s.changes {
		s.made, s.changes = s.form.Edited(s.editor.Text()), n
	}
	return s.made
}

// edited reports whether it is another text than the file's.
func (s *sheet) edited() bool { return !bytes.Equal(s.text(), s.Text) }

// put shows another text, as an edit of the file that can be undone.
func (s *sheet) put(text []byte) {
	form, ok := code.Parse(text)
	if !ok || !s.ok {
		return
	}
	s.form, s.made = form, nil
	s.editor.Replace(form.Shown())
}
