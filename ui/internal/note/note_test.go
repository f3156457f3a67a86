package note

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// book records saved notes and can block saving.
type book struct {
	mu   sync.Mutex
	kept []string
	err  error
	hold chan struct{}
}

func (b *book) keep(_ context.Context, run engine.RunID, text string) error {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.kept = append(b.kept, fmt.Sprintf("%s: %s", run, text))
	}
	return b.err
}

func (b *book) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *book) want(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.kept, want) {
		t.Errorf("kept was %q, want %q", b.kept, want)
	}
}

func newEditor(t *testing.T, b *book) (*uitest.Queue, *Editor) {
	t.Helper()
	q := uitest.Start(t)
	e := NewEditor(2, b.keep, nil)
	test.NewTempWindow(t, e)
	return q, e
}

func saved(q *uitest.Queue, e *Editor) { q.Until("saved", func() bool { return !e.saving }) }

// TestKeptAsItIsWritten checks that every change is saved. While a save is in progress, only the latest of the
// following changes is queued.
func TestKeptAsItIsWritten(t *testing.T) {
	b := &book{}
	q, e := newEditor(t, b)
	e.Open("r", "before")
	b.want(t) // showing is not writing
	e.entry.SetText("a")
	saved(q, e)
	b.want(t, "r: a")
	if !uitest.Shows(e, "Saved") {
		t.Errorf("no message is shown: %q", uitest.Texts(e))
	}
	hold := make(chan struct{})
	b.set(func() { b.hold = hold })
	for _, text := range []string{"ab", "abc", "abcd"} {
		e.entry.SetText(text)
	}
	b.set(func() { b.hold = nil })
	close(hold)
	q.Until("all is kept", func() bool { return !e.saving && len(e.unkept()) == 0 })
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.kept); b.kept[n-1] != "r: abcd" || n > 3 {
		t.Errorf("saved %q, want abcd last, and not every version", b.kept)
	}
}

// TestShowsWhatIsNewer checks that neither an outdated answer of the store nor the answer for another run replaces what
// was typed.
func TestShowsWhatIsNewer(t *testing.T) {
	b := &book{}
	q, e := newEditor(t, b)
	e.Open("r", "old")
	hold := make(chan struct{})
	b.set(func() { b.hold = hold })
	e.entry.SetText("mine")
	e.Open("r", "old")
	e.Open("r", "another's")
	if e.entry.Text != "mine" {
		t.Errorf("got %q instead of the text being saved", e.entry.Text)
	}
	e.Open("other", "theirs")
	if e.entry.Text != "theirs" {
		t.Errorf("the other run: got %q", e.entry.Text)
	}
	e.Open("r", "old")
	if e.entry.Text != "mine" {
		t.Errorf("back at the run: got %q", e.entry.Text)
	}
	close(hold)
	saved(q, e)
	e.Open("r", "mine")
	e.Open("r", "written elsewhere")
	if e.entry.Text != "written elsewhere" {
		t.Errorf("shown: %q", e.entry.Text)
	}
	b.want(t, "r: mine")
}

// TestNothingIsLostAtTheEnd checks that a failed save is reported, kept in memory, and retried at the end.
func TestNothingIsLostAtTheEnd(t *testing.T) {
	b := &book{err: errors.New("no room on the disk")}
	q, e := newEditor(t, b)
	e.Open("r", "")
	e.entry.SetText("one")
	saved(q, e)
	if !uitest.Shows(e, "No room on the disk") {
		t.Errorf("no message is shown: %q", uitest.Texts(e))
	}
	if err := e.Flush(); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
	b.set(func() { b.err = nil })
	e.Open("other", "")
	if err := e.Flush(); err != nil {
		t.Error(err)
	}
	b.want(t, "r: one")
	if err := e.Flush(); err != nil { // once
		t.Error(err)
	}
	b.want(t, "r: one")
}

// TestFlushIsLast checks that a save in progress at the end does not overwrite a later change.
func TestFlushIsLast(t *testing.T) {
	b := &book{hold: make(chan struct{})}
	q, e := newEditor(t, b)
	e.Open("r", "")
	e.entry.SetText("one")
	e.entry.SetText("one two")
	hold := b.hold
	b.set(func() { b.hold = nil })
	close(hold)
	if err := e.Flush(); err != nil {
		t.Error(err)
	}
	saved(q, e)
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.kept[len(b.kept)-1]; last != "r: one two" {
		t.Errorf("kept last was %q of %q", last, b.kept)
	}
}
