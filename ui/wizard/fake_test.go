package wizard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// value returns a text.
func value(text string) importer.Value { return importer.Value{Literal: text} }

// taken returns a value from the answer of another step.
func taken(step, path string) importer.Value {
	return importer.Value{From: &importer.From{Step: step, Path: path, Example: "7"}}
}

// shop is a draft of a shop with a login, a search, a cart and an order, and requests that are not in the journey.
func shop() *importer.Draft {
	return &importer.Draft{
		Title: "Corner shop", Source: "OpenAPI 3.1: Corner shop 1.4",
		Services: []importer.Service{{Name: "shop", URL: "http://127.0.0.1:8000", Auth: importer.Auth{Kind: importer.Bearer, Secret: "SHOP_TOKEN"}}},
		Steps: []importer.Step{
			{ID: "POST /login", Name: "login", Title: "Log in", Group: "accounts", Use: true, Method: "POST", Path: value("/login")},
			{ID: "GET /products", Name: "search", Title: "Search products", Group: "products", Use: true, Method: "GET", Path: value("/products")},
			{
				ID: "POST /cart", Name: "add_to_cart", Title: "Put a product into the cart", Group: "cart", Use: true, Method: "POST", Path: value("/cart"),
				Body: &importer.Body{Kind: importer.JSON, Value: importer.Value{Fields: &[]importer.Pair{{Name: "id", Value: taken("GET /products", ".items[0].id")}}}},
			},
			{
				ID: "POST /orders/{cart}", Name: "order", Title: "Order", Group: "orders", Use: true, Method: "POST",
				Path: importer.Value{Parts: []importer.Value{value("/orders/"), taken("POST /cart", ".id")}},
			},
			{ID: "GET /health", Name: "health", Title: "Health", Group: "admin", Method: "GET", Path: value("/health")},
			{
				ID: "DELETE /products/{id}", Name: "delete_product", Title: "Delete a product", Group: "admin", Method: "DELETE",
				Path: importer.Value{Parts: []importer.Value{value("/products/"), taken("GET /products", ".items[0].id")}},
			},
		},
		Secrets: []importer.Secret{{Name: "SHOP_TOKEN", Use: "bearer token of 127.0.0.1"}, {Name: "SHOP_KEY", Value: "hush", Use: "API key of 127.0.0.1"}},
		Dropped: []importer.Dropped{{What: "https://cdn.example.com/logo.png", Reason: "image", Count: 3}, {What: "https://cdn.example.com/font.woff", Reason: "font"}},
		Notes:   []string{"The callback orderPaid was not imported."},
	}
}

// fake is a desk with a shop.
type fake struct {
	mu       sync.Mutex
	draft    *importer.Draft // nil for a shop
	recorded bool
	reads    []Request
	readErr  error
	wait     chan struct{} // a read waits for its end; nil does not
	chains   []string      // the texts
	chainErr error
	plan     Plan
	planErr  error
	saved    *importer.Draft
	path     string
	unkept   []string
	saveErr  error
	order    Recording
	trouble  string // of the backend that is recorded
	each     func(Exchange)
	stops    int
	startErr error
}

func (f *fake) Accepts(path string) bool { return strings.HasSuffix(path, ".har") }

func (f *fake) Read(ctx context.Context, r Request) (*Found, error) {
	f.mu.Lock()
	f.reads = append(f.reads, r)
	wait, err := f.wait, f.readErr
	f.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	d := f.draft
	if d == nil {
		d = shop()
	}
	return &Found{Draft: d, Recorded: f.recorded}, nil
}

func (f *fake) Chain(_ context.Context, text []byte, _ []importer.File) (engine.Graph, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chains = append(f.chains, string(text))
	g := engine.Graph{Name: "visit"}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "step "); ok {
			name = strings.TrimSuffix(name, ":")
			g.Segments = append(g.Segments, []engine.GraphStep{{Path: name, Name: name, Label: name, Kind: "http", Service: "shop"}})
		}
	}
	return g, f.chainErr
}

// newest returns the text of the last drawn chain.
func (f *fake) newest() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.chains) == 0 {
		return ""
	}
	return f.chains[len(f.chains)-1]
}

func (f *fake) Propose(context.Context, string) string {
	return "/scenarios/corner-shop.throng.yaml"
}

func (f *fake) Plan(context.Context, *importer.Draft, string) (Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plan, f.planErr
}

func (f *fake) Known(_ context.Context, names []string) map[string]string {
	known := map[string]string{}
	for _, name := range names {
		known[name] = "the memory of this program"
	}
	return known
}

func (f *fake) Save(_ context.Context, d *importer.Draft, path string) (Saved, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.saveErr != nil {
		return Saved{}, f.saveErr
	}
	f.saved, f.path = d, path
	return Saved{File: path, Unkept: f.unkept}, nil
}

func (f *fake) Record(_ context.Context, r Recording, each func(Exchange)) (Recorder, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order, f.each = r, each
	if f.startErr != nil {
		return nil, f.startErr
	}
	return fakeRecorder{f}, nil
}

type fakeRecorder struct{ *fake }

func (r fakeRecorder) Address() string { return "http://" + r.order.Listen }

func (r fakeRecorder) Trouble() string { return r.trouble }

func (r fakeRecorder) Stop() (Source, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stops++
	return Source{Text: []byte("recorded")}, nil
}

// stage is the dialog in a window.
type stage struct {
	*Wizard
	t       *testing.T
	q       *uitest.Queue
	desk    *fake
	created []string
}

func newStage(t *testing.T, f *fake) *stage {
	t.Helper()
	st := &stage{t: t, q: uitest.Start(t), desk: f}
	win := test.NewTempWindow(t, container.NewWithoutLayout(form.Keeper()))
	st.Wizard = New(f, win, Ways{Created: func(name string) { st.created = append(st.created, name) }})
	win.Resize(fyne.NewSize(1000, 640))
	st.Open()
	return st
}

// top is the dialog that is open on top.
func (st *stage) top() fyne.CanvasObject {
	st.t.Helper()
	top := st.win.Canvas().Overlays().Top()
	if top == nil {
		st.t.Fatal("no dialog is open")
	}
	return top
}

func (st *stage) shows(text string) bool { return uitest.Shows(st.top(), text) }

func (st *stage) tap(button string) {
	st.t.Helper()
	st.q.Tap(st.top(), button)
}

func (st *stage) until(text string) {
	st.t.Helper()
	st.q.Until(fmt.Sprintf("showing %q", text), func() bool { return st.shows(text) })
}

// key types a key the way a window does: first for the dialog, then for the focused widget.
func (st *stage) key(name fyne.KeyName) {
	c := st.win.Canvas()
	if f := c.Focused(); !widgets.Key(c, name) && f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: name})
	}
	st.q.Drain()
}

// read reads the shop from its address, and waits until its chain is drawn.
func (st *stage) read() {
	st.t.Helper()
	st.source.address.SetText("127.0.0.1:8000")
	st.key(fyne.KeyReturn)
	st.until("Step 2 of 3")
	st.settled()
}

// settled waits until the chain is drawn.
func (st *stage) settled() {
	st.q.Until("drawn", func() bool { return !st.steps.drawing })
}

// journey returns the names of the steps in the journey, in order.
func (st *stage) journey() (names []string) {
	for _, s := range st.steps.journey.draft.Steps {
		if s.Use {
			names = append(names, s.Name)
		}
	}
	return names
}

// drawn returns the steps of the drawn chain.
func (st *stage) drawnSteps() (names []string) {
	st.steps.drawn.Walk(func(s *engine.GraphStep) { names = append(names, s.Name) })
	return names
}

// same fails the test if the journey and the drawn chain are not some steps in order.
func (st *stage) same(want ...string) {
	st.t.Helper()
	st.settled()
	if got := st.journey(); !slices.Equal(got, want) {
		st.t.Errorf("the journey is %v, want %v", got, want)
	}
	if got := st.drawnSteps(); !slices.Equal(got, want) {
		st.t.Errorf("the drawn chain is %v, want %v", got, want)
	}
}
