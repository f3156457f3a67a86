// Package inspect reports what the window shows, and where, to tests of the real window. It is off unless an environment variable names a
// socket.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"net"
	"reflect"
	"runtime"
	"runtime/metrics"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
)

// Env is the environment variable that names the socket.
const Env = "THRONG_INSPECT"

// Part is an object that the window shows.
type Part struct {
	Kind     string // its Go type
	Text     string
	Box      image.Rectangle // in pixels of the window
	Disabled bool
}

// Composite is a widget that says what it is made of; Fyne keeps that to itself.
type Composite interface{ Parts() []fyne.CanvasObject }

// Process is the Kind of a part that is not shown: how the program does. Its Text is as [Vitals] writes it.
const Process = "process"

// Vitals is how the program does.
type Vitals struct {
	Goroutines int
	Heap       uint64        // bytes in use
	Waited     time.Duration // by a call for its turn on the UI goroutine
	Painted    time.Time     // when the first frame was on the screen; zero before
}

func (v Vitals) String() string {
	painted := int64(0)
	if !v.Painted.IsZero() {
		painted = v.Painted.UnixMicro()
	}
	return fmt.Sprintf("goroutines %d heap %d waited %d painted %d", v.Goroutines, v.Heap, v.Waited.Microseconds(), painted)
}

// Serve starts a server and returns. It answers every connection to a Unix socket with a JSON list of [Part] for the window's content and
// one for the process at the end. painted is called on the UI goroutine and returns when the first frame was shown. A second socket with
// the suffix [Brief] answers with the process alone.
func Serve(path string, win fyne.Window, painted func() time.Time) error {
	look := func() []Part { return Look(win) }
	brief := func() []Part { return nil }
	return errors.Join(serve(path, look, painted), serve(path+Brief, brief, painted))
}

// Brief is the suffix of the socket that answers with the process alone. Collecting the content costs more than drawing it.
const Brief = ".process"

func serve(path string, look func() []Part, painted func() time.Time) error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				slog.Error("inspect", "error", err)
				return
			}
			err = json.NewEncoder(conn).Encode(answer(look, painted))
			if err = errors.Join(err, conn.Close()); err != nil {
				slog.Error("inspect", "error", err)
			}
		}
	}()
	return nil
}

// answer waits for the UI goroutine.
func answer(look func() []Part, painted func() time.Time) []Part {
	var v Vitals
	parts := make(chan []Part, 1)
	asked := time.Now()
	async.Do(func() {
		v.Waited, v.Painted = time.Since(asked), painted()
		parts <- look()
	})
	shown := <-parts
	v.Goroutines, v.Heap = runtime.NumGoroutine(), heap()
	return append(shown, Part{Kind: Process, Text: v.String()})
}

// heap reads how many bytes are in use, without stopping the world.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}

// Look lists what a window shows. It is called on the UI goroutine.
func Look(win fyne.Window) []Part {
	c := win.Canvas()
	l := looking{driver: fyne.CurrentApp().Driver(), scale: c.Scale()}
	l.at(c.Content())
	for _, o := range c.Overlays().List() {
		l.at(o)
	}
	return l.found
}

type looking struct {
	driver fyne.Driver
	scale  float32
	found  []Part
}

func (l *looking) at(o fyne.CanvasObject) {
	if o == nil || !o.Visible() {
		return
	}
	text, known := textOf(o)
	disableable, ok := o.(fyne.Disableable)
	_, tappable := o.(fyne.Tappable)
	if known || ok || tappable {
		pos, size := l.driver.AbsolutePositionForObject(o), o.Size()
		l.found = append(l.found, Part{
			Kind: fmt.Sprintf("%T", o), Text: text, Disabled: ok && disableable.Disabled(),
			Box: image.Rect(int(pos.X*l.scale), int(pos.Y*l.scale), int((pos.X+size.Width)*l.scale), int((pos.Y+size.Height)*l.scale)),
		})
	}
	for _, part := range below(o) {
		l.at(part)
	}
}

// textOf returns the text of an object that has one.
func textOf(o fyne.CanvasObject) (text string, ok bool) {
	switch o := o.(type) {
	case interface{ Text() string }:
		return o.Text(), true
	case *widget.Select:
		return o.Selected, true
	}
	return field[string](o, "Text") // of labels, buttons, entries and what is made of them
}

// field returns an exported field of an object, or of what it embeds.
func field[T any](o fyne.CanvasObject, name string) (value T, ok bool) {
	if v := reflect.Indirect(reflect.ValueOf(o)); v.Kind() == reflect.Struct {
		if f := v.FieldByName(name); f.IsValid() {
			return reflect.TypeAssert[T](f)
		}
	}
	return value, false
}

func below(o fyne.CanvasObject) []fyne.CanvasObject {
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects
	case *container.Split:
		return []fyne.CanvasObject{o.Leading, o.Trailing}
	case Composite:
		return o.Parts()
	}
	// Scrolls, popups and theme overrides have their content in a field; some of these types are internal to the toolkit.
	if inside, ok := field[fyne.CanvasObject](o, "Content"); ok {
		return []fyne.CanvasObject{inside}
	}
	return nil
}
