package transcript

import (
	"context"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// pairs is a run of conversations, each with as many lines as a page has.
type pairs struct {
	n       int
	queries []view.TranscriptQuery
	fail    error
}

func (f *pairs) Agents() int       { return f.n }
func (f *pairs) Name(i int) string { return fmt.Sprintf("pair-%d", i+1) }
func (f *pairs) Search(_ context.Context, text string, _ int) (found []int, more bool, err error) {
	for i := range f.n {
		if strings.Contains(f.Name(i), text) {
			found = append(found, i)
		}
	}
	return found, false, nil
}

func (f *pairs) Transcript(_ context.Context, q view.TranscriptQuery) (t view.Transcript, err error) {
	f.queries = append(f.queries, q)
	for a := q.From.Agent; a < f.n; a++ {
		if q.Agent >= 0 && a != q.Agent {
			continue
		}
		if len(t.Lines) >= q.Most {
			t.More, t.Next = true, view.Cursor{Agent: a}
			break
		}
		for i, who := range []string{"Ada", "Bruno", "Ada"} {
			l := view.Line{
				At: time.Date(2030, 3, 1, 12, 0, i, 0, time.UTC), Agent: a, ID: f.Name(a), Step: fmt.Sprintf("talk[%d].first", i), Speaker: who,
				Text: fmt.Sprintf("Line %d of pair %d: the harbor is the town's memory, and a market would bring people back to it every week of the year.", i+1, a+1),
			}
			if l.Matches(q.Text) {
				t.Lines = append(t.Lines, l)
			}
		}
		e := view.Line{Kind: view.EventLine, Agent: a, ID: f.Name(a), Text: "conversation", More: "turns: 3 · ended: agreed"}
		if e.Matches(q.Text) {
			t.Lines = append(t.Lines, e)
		}
	}
	return t, f.fail
}

type stage struct {
	*uitest.Queue
	*Pane
	win fyne.Window
}

func perform(t *testing.T, of Source) *stage {
	t.Helper()
	st := &stage{Queue: uitest.Start(t), Pane: New(), win: test.NewTempWindow(t, nil)}
	st.win.SetContent(st.Content)
	st.win.Resize(fyne.NewSize(900, 500))
	st.Open(of)
	st.Draw(true)
	st.Queue.Until("the first page is shown", func() bool { return st.cancel == nil && !st.read.IsZero() })
	return st
}

func (st *stage) settle() {
	st.Queue.Until("the page is shown", func() bool { return st.cancel == nil })
}

func (st *stage) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !uitest.Shows(st.Content, text) {
			t.Errorf("it does not show %q: %q", text, uitest.Texts(st.Content))
		}
	}
}

// TestReadWhatAPairSaid finds an agent and reads only its conversation.
func TestReadWhatAPairSaid(t *testing.T) {
	st := perform(t, &pairs{n: 12})
	st.shows(t, "Everyone", "pair-3", "pair-1 · cycle 0")
	st.people.find.SetText("pair-3")
	st.Queue.Until("the agent is found", func() bool { return len(st.people.found) == 1 })
	st.people.list.Select(0)
	st.settle()
	st.shows(t, "pair-3 · cycle 0", "Line 2 of pair 3", "Bruno · talk[1].first", "conversation: turns: 3")
	if uitest.Shows(st.Content, "of pair 4") {
		t.Error("lines of another pair are shown")
	}
	if dir := os.Getenv("THRONG_PICTURES"); dir != "" {
		fyne.CurrentApp().Settings().SetTheme(skin.New("light"))
		f, err := os.Create(dir + "/transcript.png")
		if err != nil {
			t.Fatal(err)
		}
		_ = png.Encode(f, st.win.Canvas().Capture())
		_ = f.Close()
	}
}

// TestPages checks that a long transcript is read page by page.
func TestPages(t *testing.T) {
	of := &pairs{n: 60}
	st := perform(t, of)
	st.shows(t, "Page 1", "of pair 20")
	if st.back.Disabled() != true || st.next.Disabled() {
		t.Error("the first page has no earlier one, and a later one")
	}
	st.later()
	st.settle()
	st.shows(t, "Page 2", "of pair 21")
	st.earlier()
	st.settle()
	st.shows(t, "Page 1", "of pair 1:")
	st.text.SetText("Line 2 of pair 57")
	st.text.OnSubmitted(st.text.Text)
	st.settle()
	st.shows(t, "of pair 57")
	if got := of.queries[len(of.queries)-1]; got.From != (view.Cursor{}) || got.Most != pageLines {
		t.Errorf("the filter asked for %+v", got)
	}
}

// TestFollowsTheRun checks that a page is read again while the run is in progress, and not afterwards.
func TestFollowsTheRun(t *testing.T) {
	of := &pairs{n: 1}
	st := perform(t, of)
	now := time.Now()
	st.now = func() time.Time { return now }
	asked := len(of.queries)
	now = now.Add(readAgain + time.Second)
	st.Draw(false)
	st.settle()
	if len(of.queries) != asked {
		t.Error("the page of a run that has ended is read again")
	}
	of.n = 2
	st.Draw(true)
	st.settle()
	st.shows(t, "Line 1 of pair 2")
}

// TestOpensALine checks that a click on a line opens it.
func TestOpensALine(t *testing.T) {
	st := perform(t, &pairs{n: 2})
	var got view.Line
	st.OnOpened = func(l view.Line) { got = l }
	for _, o := range st.feed.content.Objects {
		if b, ok := o.(*bubble); ok && b.line.Agent == 1 {
			test.Tap(b)
			break
		}
	}
	if got.Agent != 1 || got.Step != "talk[0].first" {
		t.Errorf("opened %+v", got)
	}
}
