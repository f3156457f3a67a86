// Package uitest helps testing screens with Fyne's test driver.
package uitest

import (
	"image"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
)

// Queue stands for the UI goroutine: it keeps what is to be done there until the test has it done.
type Queue struct {
	t  *testing.T
	mu sync.Mutex
	do []func()
	// ended is set when nothing is done any more
	ended bool
	in    chan struct{} // holds a token when something came
}

// Start replaces the way to the UI goroutine. What comes after the test has ended is dropped. Tests of screens are
// never parallel.
func Start(t *testing.T) *Queue {
	t.Helper()
	q := &Queue{t: t, in: make(chan struct{}, 1)}
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme()) // the driver's own logs each colour it does not know
	async.Replace(q.put)
	t.Cleanup(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.ended, q.do = true, nil
	})
	return q
}

// Picture draws a canvas with an object as it is now. The toolkit drops what draws an object a minute after it was drawn
// last, and forgets with it that the object has the focus. A slow machine may take so long between two pictures: so the
// canvas is drawn twice, and the object refreshed in between.
func Picture(c fyne.Canvas, o fyne.CanvasObject) image.Image {
	c.Capture()
	o.Refresh()
	return c.Capture()
}

func (q *Queue) put(f func()) {
	q.mu.Lock()
	if !q.ended {
		q.do = append(q.do, f)
	}
	q.mu.Unlock()
	select {
	case q.in <- struct{}{}:
	default:
	}
}

// Drain does what waits.
func (q *Queue) Drain() {
	for {
		q.mu.Lock()
		do := q.do
		q.do = nil
		q.mu.Unlock()
		if len(do) == 0 {
			return
		}
		for _, f := range do {
			f()
		}
	}
}

// Until does what comes until a condition holds; the test fails if it does not within 2 minutes.
func (q *Queue) Until(what string, holds func() bool) {
	q.t.Helper()
	late := time.NewTimer(6 * time.Second)
	defer late.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		q.Drain()
		if holds() {
			return
		}
		select {
		case <-q.in:
		case <-again.C:
		case <-late.C:
			q.t.Fatalf("after 2 minutes: not %s", what)
		}
	}
}

// Texts returns all texts that an object shows, in the order in which they are drawn.
func Texts(o fyne.CanvasObject) []string {
	var all []string
	Walk(o, func(o fyne.CanvasObject) bool {
		if t, ok := o.(*canvas.Text); ok && t.Text != "" {
			all = append(all, t.Text)
		}
		return true
	})
	return all
}

// Shows reports whether an object shows a text somewhere, perhaps among others.
func Shows(o fyne.CanvasObject, text string) bool {
	return strings.Contains(strings.Join(Texts(o), "\n"), text)
}

// Walk calls f with all visible objects below one, and with itself, until it returns false.
func Walk(o fyne.CanvasObject, f func(fyne.CanvasObject) bool) bool {
	if o == nil || !o.Visible() {
		return true
	}
	if !f(o) {
		return false
	}
	var below []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		below = o.Objects
	case *container.Scroll:
		below = []fyne.CanvasObject{o.Content}
	case fyne.Widget:
		below = test.WidgetRenderer(o).Objects()
	}
	for _, b := range below {
		if !Walk(b, f) {
			return false
		}
	}
	return true
}

// Button returns the visible button with a text; nil if there is none.
func Button(o fyne.CanvasObject, text string) (found *widget.Button) {
	Walk(o, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok && b.Text == text {
			found = b
		}
		return found == nil
	})
	return found
}

// Tap taps the visible button with a text; the test fails if there is none or it is disabled.
func (q *Queue) Tap(o fyne.CanvasObject, text string) {
	q.t.Helper()
	b := Button(o, text)
	if b == nil {
		q.t.Fatalf("there is no button %q among %q", text, Texts(o))
	}
	if b.Disabled() {
		q.t.Fatalf("the button %q is disabled", text)
	}
	test.Tap(b)
	q.Drain()
}
