package editor

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/scenario/complete"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/code"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// check checks the scenario as edited, and keeps a draft of the edits.
func (s *Screen) check() {
	s.stop()
	s.cancel()
	s.asked++
	this, o := s.asked, s.order()
	keep := s.drafts.next(s.desk, o)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	texts := map[string]string{}
	for _, sh := range s.sheets {
		texts[sh.Name] = sh.editor.Text()
	}
	type answer struct {
		found Findings
		fixes fixes
		keep  error
	}
	async.Work(func() (answer, error) {
		a := answer{keep: keep(ctx)}
		var err error
		a.found, err = s.desk.Check(ctx, o)
		a.fixes = fixesOf(a.found.Problems[:min(len(a.found.Problems), mostListed)], texts)
		return a, err
	}, func(a answer, err error) {
		cancel()
		if this != s.asked {
			return
		}
		s.kept = a.keep == nil && len(o.Texts) > 0
		if a.keep != nil {
			s.notice.ask("Cannot keep a draft of the edits: "+a.keep.Error()+". Save them before you leave the editor.", option{"OK", nil})
		}
		s.fixes = a.fixes
		s.tell(a.found, err)
	})
}

// tell shows the findings.
func (s *Screen) tell(found Findings, err error) {
	if err != nil {
		found.Problems = append(found.Problems, view.Problem{File: s.sheets[0].Name, Line: 1, Col: 1, Text: err.Error()})
	}
	slices.SortStableFunc(found.Problems, func(a, b view.Problem) int {
		return cmp.Or(cmp.Compare(s.rank(a.File), s.rank(b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	s.found = found
	if len(found.Fields) > 0 {
		s.fields = found.Fields
	}
	for _, f := range found.Files {
		if s.sheet(f.Name) == nil {
			s.add(f)
		}
	}
	s.mark()
	s.list.set(found.Problems, s.fixes)
	title := "No problems"
	if n := len(found.Problems); n > 0 {
		title = "Problems (" + strconv.Itoa(n) + ")"
	}
	s.side.name(problemsPart, title)
	s.follow()
	if s.shown != nil {
		s.moved(s.shown)
	}
}

// rank returns the position of a file among the sheets.
func (s *Screen) rank(file string) int {
	return slices.IndexFunc(s.sheets, func(sh *sheet) bool { return sh.Name == file })
}

// marked returns the problems of a sheet, including those of the last trial.
func (s *Screen) marked(sh *sheet) (all []view.Problem) {
	for _, p := range append(slices.Clone(s.found.Problems), s.trial.problems...) {
		if p.File == sh.Name {
			all = append(all, p)
		}
	}
	return all
}

// mark marks the lines with problems.
func (s *Screen) mark() {
	for _, sh := range s.sheets {
		var marks []code.Mark
		for _, p := range s.marked(sh) {
			marks = append(marks, code.Mark{Line: p.Line, Col: p.Col, Text: p.Brief(), Warning: p.Warning})
		}
		sh.editor.SetMarks(marks)
	}
}

// show goes to a problem.
func (s *Screen) show(p view.Problem) {
	sh := s.sheet(p.File)
	if sh == nil {
		return
	}
	if sh != s.shown {
		s.choose(sh)
	}
	sh.editor.Go(p.Line, p.Col)
	sh.editor.Focus(s.win.Canvas())
}

// next goes to the next problem after the cursor, or to the first.
func (s *Screen) next() {
	all := append(slices.Clone(s.found.Problems), s.trial.problems...)
	if len(all) == 0 || s.shown == nil {
		s.status.SetText("No problems found.")
		return
	}
	line, col := s.shown.editor.Cursor()
	here := s.rank(s.shown.Name)
	for _, p := range all {
		if cmp.Or(cmp.Compare(s.rank(p.File), here), cmp.Compare(p.Line, line), cmp.Compare(p.Col, col)) > 0 {
			s.show(p)
			return
		}
	}
	s.show(all[0])
}

// mostListed is the maximum number of listed problems.
const mostListed = 100

// problems is the list of problems.
type problems struct {
	object fyne.CanvasObject
	items  *fyne.Container
	show   func(view.Problem)
	fix    func(view.Problem, complete.Fix)
}

func newProblems(show func(view.Problem), fix func(view.Problem, complete.Fix)) *problems {
	l := &problems{items: form.NewStack(), show: show, fix: fix}
	l.object = widgets.NewPanel("", container.NewVScroll(l.items))
	return l
}

func (l *problems) set(all []view.Problem, known fixes) {
	l.items.Objects = nil
	for _, p := range all[:min(len(all), mostListed)] {
		l.items.Add(newItem(p, l.show))
		if buttons := l.buttons(p, known[p]); buttons != nil {
			l.items.Add(buttons)
		}
	}
	switch {
	case len(all) == 0:
		note := form.NewNote("")
		note.SetGood("No problems found. You can launch the scenario or try one agent.")
		l.items.Add(note)
	case len(all) > mostListed:
		l.items.Add(form.NewNote("and " + several(len(all)-mostListed, "more")))
	case len(known) > 0:
		l.items.Add(form.NewNote("F8 goes to the next problem, F7 fixes it."))
	default:
		l.items.Add(form.NewNote("F8 goes to the next problem."))
	}
	l.items.Refresh()
}

// buttons returns the buttons that fix a problem; nil if there is no fix.
func (l *problems) buttons(p view.Problem, all []complete.Fix) fyne.CanvasObject {
	if len(all) == 0 {
		return nil
	}
	row := container.NewHBox()
	for _, f := range all {
		row.Add(widget.NewButton(f.Title, func() { l.fix(p, f) }))
	}
	return row
}
