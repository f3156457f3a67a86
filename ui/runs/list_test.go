package runs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// three returns runs that differ in everything that can be sorted by.
func three() *fakeDesk {
	desk := two()
	third := record("third")
	third.Name, third.Star, third.Tags, third.Created, third.Done = "Prices", true, []string{"b2b"}, began.Add(-2*time.Hour), 10
	third.Ending, third.Reason, third.Tally.Failed = engine.EndStopped, "by hand", 3
	desk.runs = append(desk.runs, third)
	desk.runs[1].Tags = []string{"b2b", "old"}
	return desk
}

// listed returns the runs in the order of the table.
func listed(s *Screen) string {
	var all []string
	for _, r := range s.list.shown {
		all = append(all, string(r.ID))
	}
	return strings.Join(all, " ")
}

func TestRunsAreSorted(t *testing.T) {
	q, s, _ := start(t, three())
	q.Until("the sizes are known", func() bool { return len(s.sizes) == 3 })
	if got := listed(s); got != "new old third" {
		t.Errorf("at first: %q", got)
	}
	for _, c := range []struct {
		column int
		want   string
	}{
		{columnWhen, "third old new"},
		{columnWhen, "new old third"},
		{columnName, "old third new"},
		{columnName, "new third old"},
		{columnStar, "third new old"},
		{columnState, "old new third"},
		{columnProgress, "old new third"},
		{columnOutcome, "third new old"},
		{columnTags, "new third old"},
		{columnSize, "third old new"},
	} {
		s.list.table.OnSort(c.column)
		if got := listed(s); got != c.want {
			t.Errorf("by %q: %q, want %q", runColumns[c.column].Title, got, c.want)
		}
	}
	if s.chosen != "new" || s.list.table.Selected() != "new" {
		t.Errorf("sorting changed the chosen run to %q, %q", s.chosen, s.list.table.Selected())
	}
}

func TestRunsAreFiltered(t *testing.T) {
	desk := three()
	desk.mark("old", func(r *engine.RunRecord) { r.Experiment = "Coupons" })
	q, s, _ := start(t, desk)
	l := s.list
	for _, c := range []struct {
		name string
		set  func()
		want string
	}{
		{"words", func() { l.search.SetText("prices 3 failures") }, "third"},
		{"state", func() { l.state.SetSelected("stopped") }, "third"},
		{"experiment", func() { l.tag.SetSelected("Experiment: Coupons") }, "old"},
		{"tag", func() { l.tag.SetSelected("b2b") }, "old third"},
		{"star", func() { l.starred.SetChecked(true) }, "third"},
		{"both", func() {
			l.tag.SetSelected("old")
			l.search.SetText("prices")
		}, ""},
	} {
		c.set()
		wait(q, s)
		if got := listed(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == "" {
			q.Tap(s.Content(), "Show all runs")
		}
		l.showAll()
		wait(q, s)
		if got := listed(s); got != "new old third" {
			t.Errorf("after %s: %q", c.name, got)
		}
	}
	if want := []string{anyTag, "b2b", "old", "Experiment: Coupons"}; !slices.Equal(l.tag.Options, want) {
		t.Errorf("the tags are %q, want %q", l.tag.Options, want)
	}
	l.tag.SetSelected("old")
	wait(q, s)
	if s.chosen != "old" {
		t.Errorf("chosen is %q, which is not shown", s.chosen)
	}
	s.Select("third") // from another screen
	wait(q, s)
	if got := listed(s); s.chosen != "third" || got != "new old third" {
		t.Errorf("chosen is %q of %q", s.chosen, got)
	}
	l.tag.SetSelected("old")
	wait(q, s)
	desk.mark("old", func(r *engine.RunRecord) { r.Tags = nil })
	s.load()
	wait(q, s)
	if l.tag.Selected != anyTag {
		t.Errorf("a tag that no run has filters: %q", l.tag.Selected)
	}
}

func TestMarksAreStored(t *testing.T) {
	desk := three()
	q, s, h := start(t, desk)
	d := s.detail
	d.name.SetText(" Friday ")
	d.name.OnSubmitted(d.name.Text)
	d.tags.SetText("B2B, prices")
	d.tags.FocusLost()
	if !s.list.table.OnCell("new", columnStar) || s.list.table.OnCell("new", columnName) {
		t.Error("a click on the star selects, or one on the name does not")
	}
	q.Until("it is stored", func() bool { r := s.run(); return !s.loading && r.Star && r.Name == "Friday" && len(r.Tags) == 2 })
	wantShown(t, s, "Friday", "b2b prices")
	q.Until("it is in the store", func() bool { return len(desk.orders()) == 3 && !s.loading })
	d.tags.SetText("prices")
	d.tags.OnSubmitted(d.tags.Text)
	d.name.SetText("Shoppers") // the title
	d.name.OnSubmitted(d.name.Text)
	q.Until("it is stored", func() bool {
		return !s.loading && len(desk.orders()) == 5 && s.run().Name == "" && len(s.run().Tags) == 1
	})
	if want := []string{"new is Friday", "new is Shoppers"}; !slices.Equal(h.renamed, want) {
		t.Errorf("the names %q were reported", h.renamed)
	}
	orders := desk.orders()
	slices.Sort(orders)
	if want := []string{`name new ""`, `name new "Friday"`, "star new true", "tag new +[] -[b2b]", "tag new +[b2b prices] -[]"}; !slices.Equal(orders, want) {
		t.Errorf("got calls %q, want %q", orders, want)
	}

	d.tags.SetText("no+good")
	d.tags.OnSubmitted(d.tags.Text)
	if !strings.Contains(s.list.status.Text(), "cannot use the tag no+good") {
		t.Errorf("the message is %q", s.list.status.Text())
	}
	d.name.SetText("half")
	d.name.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if d.name.Text != "Shoppers" {
		t.Errorf("Escape leaves %q", d.name.Text)
	}
	d.name.SetText("kept")
	s.choose("old") // stores what was typed
	q.Until("it is stored", func() bool { return !s.loading && s.record("new").Name == "kept" })
	if d.name.Text != "Greeters" {
		t.Errorf("the name of the other run is %q", d.name.Text)
	}
}

// TestSeveralRuns compares, exports and deletes the marked runs.
func TestSeveralRuns(t *testing.T) {
	desk := three()
	desk.footprint.Bytes = 1_000_000
	q, s, h := start(t, desk)
	s.list.table.Toggle("third")
	s.list.table.Toggle("old")
	wait(q, s)
	wantShown(t, s, "3 runs, 3 selected")
	q.Tap(s.Content(), "Compare")
	if want := []engine.RunID{"new", "old", "third"}; !slices.Equal(h.compared, want) {
		t.Errorf("compared were %q, want %q", h.compared, want)
	}
	s.list.table.Toggle("new")
	wait(q, s)
	s.pickPath = func(_ string, then func(string)) { then("/there") }
	pickFormat(t, q, s, "CSV…")
	wait(q, s)
	q.Tap(s.Content(), "Delete…")
	ask := asked(q, s)
	for _, want := range []string{"2 runs, about 2 MB", "Greeters (old)", "Prices (third)", "30 days"} {
		if !uitest.Shows(ask, want) {
			t.Errorf("%q is not shown in %q", want, uitest.Texts(ask))
		}
	}
	q.Tap(ask, "Delete")
	q.Until("deleted", func() bool { return len(s.runs) == 1 && !s.loading })
	wantShown(t, s, "Deleted: 2 runs.")
	q.Tap(s.Content(), "Undo")
	q.Until("restored", func() bool { return !s.undo.working && !s.loading && len(s.runs) == 3 })
	orders := desk.orders()
	slices.Sort(orders)
	want := []string{"csv old to /there", "csv third to /there", "delete old", "delete third", "restore old 0", "restore third 0", "weigh old", "weigh third"}
	if !slices.Equal(orders, want) {
		t.Errorf("got calls %q, want %q", orders, want)
	}
}

// TestUnsentRunsAreKept checks that deleting several runs does not lose rows that are not in the database yet.
func TestUnsentRunsAreKept(t *testing.T) {
	desk := three()
	desk.footprint.Sendings = []view.Sending{{Target: "db", Unsent: 3}}
	q, s, _ := start(t, desk)
	s.list.table.MarkAll()
	q.Tap(s.Content(), "Delete…")
	ask := asked(q, s)
	if text := "Kept, because they have unsent rows"; !uitest.Shows(ask, text) || uitest.Button(ask, "Delete") != nil {
		t.Errorf("shown is %q", uitest.Texts(ask))
	}
}

// TestEveryReasonIsShown marks runs for which actions are not possible.
func TestEveryReasonIsShown(t *testing.T) {
	desk := three()
	desk.runs[1].Fetched = &engine.Fetched{Database: "db"}
	desk.runs[2].InProgress = true
	_, s, _ := start(t, desk)
	s.list.table.MarkAll()
	for _, b := range []fyne.Disableable{s.list.compare, s.list.export, s.list.remove} {
		if !b.Disabled() {
			t.Error("an action is possible")
		}
	}
	if got, want := s.list.status.Text(), "3 runs, 3 selected. The results of Greeters are on another machine; Prices is in progress and cannot be deleted."; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}
}

func TestTheTimelineExplainsItsMarks(t *testing.T) {
	_, s, _ := start(t, two())
	c := s.detail.checkpointLine
	if len(c.marks) != 2 || c.marks[0].number != 1 || c.marks[1].number != 2 || c.marks[0].at >= c.marks[1].at {
		t.Fatalf("the marks are %+v", c.marks)
	}
	at := fyne.NewPos(c.x(c.marks[1].at)+3, 8)
	c.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at}})
	if got := c.tip.Text(); !strings.HasPrefix(got, "Checkpoint 2, 2026-01-02 15:14:05\nStart of cycle 1, taken with 700 of 8,928 sessions done\ninterval") {
		t.Errorf("the tip is %q", got)
	}
	c.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(c.Size().Width-20, 8)}})
	if got := c.tip.Text(); got != "" {
		t.Errorf("where no mark is, the tip is %q", got)
	}
	c.Tapped(&fyne.PointEvent{Position: fyne.NewPos(c.x(c.marks[0].at), 8)})
	if s.checkpoint().Number != 1 {
		t.Error("a click does not select a mark")
	}
	c.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if s.checkpoint().Number != 2 {
		t.Error("a key does not select a mark")
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.Local)
	for at, want := range map[time.Time]string{
		now.Add(-10 * time.Minute): "Today, 00:20", now.Add(-40 * time.Minute): "Yesterday, 23:50", now.Add(-48 * time.Hour): "Feb 27, 00:30", now.AddDate(-1, 0, 0): "Mar 1, 2025",
	} {
		if got := when(at, now); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
	for at, want := range map[time.Time]string{now.Add(-10 * time.Minute): "00:20", now.Add(-40 * time.Minute): "Feb 28, 23:50", now.AddDate(-1, 0, 0): "Mar 1, 2025, 00:30"} {
		if got := moment(at, now); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}
