package editor

import (
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine/scenario/complete"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/code"
)

// language is the scenario language.
var language = sync.OnceValue(func() *complete.Language {
	text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
	var l *complete.Language
	if err == nil {
		l, err = complete.New(text)
	}
	if err != nil { // the schema is embedded in the program
		panic(err)
	}
	return l
})

// isStarlark reports whether a file has functions.
func isStarlark(name string) bool { return path.Ext(name) == ".star" }

// completions returns what can be typed at the cursor of a sheet.
func (s *Screen) completions(sh *sheet, asked bool) complete.Result {
	q := complete.Query{Text: sh.editor.Text(), Fields: s.fields, Asked: asked}
	q.Line, q.Col = sh.editor.Cursor()
	if isStarlark(sh.Name) {
		q.Scenario = s.sheets[0].editor.Text()
	} else if i := slices.IndexFunc(s.sheets, func(other *sheet) bool { return isStarlark(other.Name) }); i >= 0 {
		q.Functions = s.sheets[i].editor.Text()
	}
	return language().Complete(q)
}

// completeHere offers what can be typed at the cursor.
func (s *Screen) completeHere() {
	e := s.shown.editor
	e.Focus(s.win.Canvas())
	e.Complete()
	async.Work(func() (struct{}, error) { return struct{}{}, nil }, func(struct{}, error) {
		if s.shown.editor == e && e.Offered() == nil { // a menu of the window has closed it and has taken the focus
			e.Focus(s.win.Canvas())
			e.Complete()
		}
	})
}

// insertStep adds a line after the step at the cursor and offers the kinds of steps there.
func (s *Screen) insertStep() {
	sh := s.sheets[0]
	if s.shown != sh {
		s.choose(sh)
	}
	e := sh.editor
	e.Focus(s.win.Canvas())
	isStep := func(i complete.Item) bool { return i.Kind == complete.StepItem }
	line, col := e.Cursor()
	after, indent, ok := complete.StepPlace(e.Text(), line, col)
	if !ok {
		e.CompleteWith(isStep, func() { s.status.SetText("Put the cursor below a chain or a step, on a line of its own.") })
		return
	}
	before := e.Text()
	e.InsertLine(after, indent)
	e.CompleteWith(isStep, func() {
		e.Replace(before)
		e.Go(line, col)
	})
}

// fixes are the corrections of problems.
type fixes map[view.Problem][]complete.Fix

// fixesOf returns the corrections of the problems in files.
func fixesOf(problems []view.Problem, texts map[string]string) fixes {
	all := fixes{}
	for name, text := range texts {
		of := slices.DeleteFunc(slices.Clone(problems), func(p view.Problem) bool { return p.File != name })
		for i, list := range language().Fixes(text, of...) {
			if len(list) > 0 {
				all[of[i]] = list
			}
		}
	}
	return all
}

// fix corrects a problem, as one change. The text may have changed since the check; then the correction is found again.
func (s *Screen) fix(p view.Problem, fix complete.Fix) {
	sh := s.sheet(p.File)
	if sh == nil || sh.editor.ReadOnly {
		return
	}
	for _, f := range language().Fixes(sh.editor.Text(), p)[0] {
		if f.Title == fix.Title && f.Was == fix.Was {
			if sh != s.shown {
				s.choose(sh)
			}
			sh.editor.Edit(f.Line, f.Col, f.EndLine, f.EndCol, f.Text)
			sh.editor.Focus(s.win.Canvas())
			return
		}
	}
	s.status.SetText("The line has changed since the check.")
}

// fixHere corrects the problem at the line of the cursor. If there are several ways, it offers them.
func (s *Screen) fixHere() {
	line, _ := s.shown.editor.Cursor()
	var choices []code.Choice
	for _, p := range s.marked(s.shown) {
		if p.Line != line {
			continue
		}
		for _, f := range s.fixes[p] {
			choices = append(choices, code.Choice{Label: f.Title, Help: p.Text, Do: func() { s.fix(p, f) }})
		}
	}
	switch len(choices) {
	case 0:
		s.status.SetText("No fix for this line. F8 goes to the next problem.")
	case 1:
		choices[0].Do()
	default:
		s.shown.editor.Focus(s.win.Canvas())
		s.shown.editor.Offer(choices)
	}
}
