package editor

import (
	"context"
	"slices"
	"strings"

	"github.com/throng-sim/throng/ui/internal/async"
)

// look checks whether another program has changed files. Unedited files are reloaded; for edited ones it asks the user.
func (s *Screen) look() {
	if s.doc == nil || s.doc.BuiltIn || s.looking || s.notice.object.Visible() {
		return
	}
	var files []File
	for _, sh := range s.sheets {
		files = append(files, File{Name: sh.Name, Stamp: sh.Stamp})
	}
	doc := s.doc
	s.looking = true
	async.Work(func() ([]File, error) { return s.desk.Changed(context.Background(), doc.Name, files) }, func(changed []File, err error) {
		s.looking = false
		if s.doc != doc || err != nil || len(changed) == 0 { // a read error is reported when the file is saved
			return
		}
		s.follows(changed)
	})
}

// follows handles changes by another program.
func (s *Screen) follows(changed []File) {
	var asked []string
	for _, f := range changed {
		sh := s.sheet(f.Name)
		switch {
		case sh == nil || sh.Stamp == f.Stamp:
		case sh.edited():
			asked = append(asked, f.Name)
		default:
			sh.File = f
			sh.put(f.Text)
			s.check()
		}
	}
	if len(asked) > 0 {
		s.notice.ask(strings.Join(asked, ", ")+" was changed by another program, and you have edited it here.",
			option{"Load from disk", func() { s.reload(asked) }}, option{"Keep my edits", func() { s.mine(changed) }})
	}
}

// mine keeps the edits on top of the changed files.
func (s *Screen) mine(changed []File) {
	for _, f := range changed {
		if sh := s.sheet(f.Name); sh != nil {
			sh.File = f
		}
	}
	s.follow()
}

// reload shows files as they are on disk; undo restores the edits.
func (s *Screen) reload(names []string) {
	doc := s.doc
	async.Work(func() (*Document, error) { return s.desk.Open(context.Background(), doc.Name) }, func(now *Document, err error) {
		if s.doc != doc {
			return
		}
		if err != nil {
			s.failed("Cannot read the file; your edits are kept here", err)
			return
		}
		for _, f := range now.Files {
			if sh := s.sheet(f.Name); sh != nil && slices.Contains(names, f.Name) {
				sh.File = f
				sh.put(f.Text)
			}
		}
		s.check()
	})
}
