package editor

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// fake is a desk with a scenario in memory. Every line that contains WRONG is a mistake.
type fake struct {
	mu       sync.Mutex
	doc      Document
	drafts   map[string][]byte // kept last
	keeps    int
	saved    map[string]string
	over     bool
	conflict *Conflict // that the next saving meets
	changed  []File
	copied   string // the folder
	targets  []engine.Destination
	tried    []Trial
	trial    *engine.Trial
	err      error         // of the next trial
	wait     chan struct{} // a trial waits for its end; nil does not
	keepErr  error
}

func newFake(builtIn bool, texts ...string) *fake {
	f := &fake{saved: map[string]string{}, doc: Document{Name: "/tmp/mine.yaml", BuiltIn: builtIn}}
	for i, name := range []string{"mine.yaml", "mine.star"}[:len(texts)] {
		f.doc.Files = append(f.doc.Files, File{name, []byte(texts[i]), "1"})
	}
	return f
}

func (f *fake) Templates(context.Context) ([]Template, error) {
	return []Template{{"templates/one.yaml", "One", "The first."}, {"templates/two.yaml", "Two", "The second."}}, nil
}

func (f *fake) Open(_ context.Context, name string) (*Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc := f.doc
	doc.Name = name
	if strings.HasPrefix(name, "templates/") {
		doc.New, doc.BuiltIn = true, true
	}
	return &doc, nil
}

func (f *fake) Check(_ context.Context, o Order) (found Findings, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range f.doc.Files {
		text, edited := o.Texts[file.Name]
		if !edited {
			text = file.Text
		}
		for i, line := range strings.Split(string(text), "\n") {
			if at := strings.Index(line, "WRONG"); at >= 0 {
				found.Problems = append(found.Problems, view.Problem{File: file.Name, Line: i + 1, Col: at + 1, Text: "there is no WRONG", Hint: "did you mean RIGHT? there is more", Meant: "RIGHT"})
			}
		}
	}
	return found, nil
}

func (f *fake) Save(_ context.Context, _ string, files []File, over bool) ([]File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.conflict; c != nil && !over {
		return nil, c
	}
	f.over = over
	saved := make([]File, len(files))
	for i, file := range files {
		f.saved[file.Name] = string(file.Text)
		saved[i] = File{file.Name, file.Text, "2"}
	}
	return saved, nil
}

func (f *fake) SaveAs(_ context.Context, o Order, path string, over bool) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.conflict; c != nil && !over {
		return "", c
	}
	f.copied, f.over, f.doc.BuiltIn = path, over, false
	for name, text := range o.Texts {
		f.saved[name] = string(text)
		for i := range f.doc.Files {
			if f.doc.Files[i].Name == name {
				f.doc.Files[i].Text = text
			}
		}
	}
	return path, nil
}

func (f *fake) Changed(context.Context, string, []File) ([]File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed, nil
}

func (f *fake) Keep(_ context.Context, o Order) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keeps++
	f.drafts = maps.Clone(o.Texts)
	return f.keepErr
}

func (f *fake) Put(_ context.Context, o Order, v Values) (string, []byte, error) {
	return "mine.yaml", []byte("n: " + v.Parameters["n"] + "\n"), nil
}

func (f *fake) Unallowed(context.Context, Trial) ([]engine.Destination, error) { return f.targets, nil }

func (f *fake) Try(ctx context.Context, t Trial) (*engine.Trial, error) {
	f.mu.Lock()
	f.tried = append(f.tried, t)
	wait := f.wait
	f.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return f.trial, context.Cause(ctx)
		}
	}
	return f.trial, f.err
}

// stage is the screen in a window.
type stage struct {
	*Screen
	q     *uitest.Queue
	win   fyne.Window
	desk  *fake
	left  int
	saves []string
}

func newStage(t *testing.T, f *fake) *stage {
	t.Helper()
	return newStageOf(t, f, f)
}

// newStageOf is newStage with another desk, which may answer differently.
func newStageOf(t *testing.T, f *fake, desk Desk) *stage {
	t.Helper()
	st := &stage{q: uitest.Start(t), desk: f}
	st.win = test.NewTempWindow(t, nil)
	st.Screen = New(desk, st.win, Ways{
		Leave: func() { st.left++ }, Saved: func(name string) { st.saves = append(st.saves, name) },
		Order: func(string) (map[string]string, *engine.Settings, bool) {
			return map[string]string{"n": "7"}, nil, true
		},
	})
	st.pause = 20 * time.Millisecond
	st.win.SetContent(st.Content())
	st.win.Resize(fyne.NewSize(1280, 800))
	st.Show()
	st.Open(f.doc.Name, nil)
	st.q.Until("checked", func() bool {
		return uitest.Button(st.Content(), "Problems") == nil && st.timer == nil && st.shown != nil
	})
	return st
}

// typed types at a position in the current file, and waits until the file has been checked.
func (st *stage) typed(line, col int, text string) {
	st.shown.editor.Go(line, col)
	for _, r := range text {
		st.shown.editor.Target().TypedRune(r)
	}
	keeps := st.keeps()
	st.q.Until("checked again", func() bool { return st.timer == nil && st.keeps() > keeps })
}

func (st *stage) keeps() int {
	st.desk.mu.Lock()
	defer st.desk.mu.Unlock()
	return st.desk.keeps
}

func (st *stage) shows(text string) bool { return uitest.Shows(st.Content(), text) }

// asks taps a button of the open dialog.
func (st *stage) asks(t *testing.T, button string) {
	t.Helper()
	top := st.win.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("no question is asked")
	}
	st.q.Tap(top, button)
}
