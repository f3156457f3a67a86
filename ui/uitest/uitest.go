// Package uitest helps test screens with Fyne's test driver.
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

// Queue replaces the UI goroutine: it stores calls until the test runs them.
type Queue struct {
	t  *testing.T
	mu sync.Mutex
	do []func()
	// no more calls are run
	ended bool
	in    chan struct{} // holds a token if there is a call
}

// Start replaces the way to the UI goroutine. Calls after the end of the test are dropped. Tests of screens must not be parallel.
func Start(t *testing.T) *Queue {
	t.Helper()
	q := &Queue{t: t, in: make(chan struct{}, 1)}
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme()) // the driver's own theme logs unknown colors
	async.Replace(q.put)
	t.Cleanup(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.ended, q.do = true, nil
	})
	return q
}

// Picture draws a canvas that shows an object. The toolkit drops renderers a minute after the last drawing, with the focus, and a slow
// machine may need that long between pictures. So Picture draws the canvas twice and refreshes the object in between.
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

// Drain runs the waiting calls.
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

// Until runs calls until a condition holds, and fails the test after 2 minutes.
func (q *Queue) Until(what string, holds func() bool) {
	q.t.Helper()
	late := time.NewTimer(2 * time.Minute)
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

// Texts returns all texts that an object shows, in drawing order.
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

// Shows reports whether an object shows a text, possibly as a part of another or wrapped to several lines.
func Shows(o fyne.CanvasObject, text string) bool {
	all := Texts(o)
	return strings.Contains(strings.Join(all, "\n"), text) || strings.Contains(strings.Join(all, " "), text)
}

// Unfold opens all panels that can be closed.
func Unfold(o fyne.CanvasObject) {
	Walk(o, func(o fyne.CanvasObject) bool {
		if f, ok := o.(interface {
			Opened() bool
			SetOpen(open bool)
		}); ok {
			f.SetOpen(true)
		}
		return true
	})
}

// Walk calls f for an object and all visible objects below it, until f returns false.
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

// Button returns the visible button with a text, or nil.
func Button(o fyne.CanvasObject, text string) (found *widget.Button) {
	Walk(o, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok && b.Text == text {
			found = b
		}
		return found == nil
	})
	return found
}

// Tap taps the visible button with a text. The test fails if there is none or it is disabled.
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
