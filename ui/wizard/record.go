package wizard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	listenAt     = "127.0.0.1:8899"
	mostRecorded = 2000 // rows of the table
	leastRows    = 2
	fieldEms     = 18 // width of a field, in text heights
)

// record is the page that records a visit.
type record struct {
	wizard *Wizard
	target *form.Entry
	listen *form.Entry
	fields form.Form
	start  *widget.Button
	use    *widget.Button
	state  *form.Note
	table  *widgets.Table
	object fyne.CanvasObject

	recorder Recorder // nil while nothing is recorded
	usage    string   // how a client uses it
	busy     bool     // it is being started or stopped

	mu      sync.Mutex // recorders call on other goroutines
	session int        // number of the recording; calls of older ones are dropped
	came    []Exchange
	total   int
	drawn   int
}

func newRecord(w *Wizard) *record {
	r := &record{wizard: w, target: form.NewEntry(), listen: form.NewEntry(), state: form.NewNote("")}
	r.listen.SetText(listenAt)
	r.target.SetPlaceHolder("http://127.0.0.1:8000")
	r.target.OnChanged = func(string) { r.changed() }
	r.listen.OnChanged = func(string) { r.changed() }
	target := r.fields.Add(form.NewRow("Address of the backend", r.target), "target")
	listen := r.fields.Add(form.NewRow("Listen on", r.listen), "listen")
	r.start = widget.NewButtonWithIcon("Start", theme.MediaRecordIcon(), r.begin)
	r.use = widget.NewButtonWithIcon("Stop and use", theme.MediaStopIcon(), r.end)
	r.start.Importance, r.use.Importance = widget.HighImportance, widget.HighImportance
	r.table = widgets.NewTable([]widgets.Column{
		{Title: "Request", Sample: "POST /api/sessions", Weight: 3},
		{Title: "Status", Sample: "000"},
		{Title: "Time", Sample: "000.0 ms", Align: fyne.TextAlignTrailing},
	}, "Requests appear here as they come.", leastRows)
	top := form.NewStack(form.NewColumns(fieldEms, target, listen), container.NewHBox(r.start, r.use), container.New(reserved(2), r.state))
	r.object = form.NewHeaded(top, r.table)
	r.follow()
	return r
}

func (r *record) content() fyne.CanvasObject { return r.object }

func (r *record) title() string {
	return "Recording: Throng passes requests on to the backend and keeps them until you stop."
}

func (r *record) first() fyne.Focusable {
	if address := r.wizard.source.address.Text; r.target.Text == "" && strings.Contains(address, "://") {
		r.target.SetText(strings.TrimSpace(address))
	}
	return r.target
}

func (r *record) next() (string, bool) { return "", false }

func (r *record) forward() {}

func (r *record) back() func() {
	if r.busy || r.wizard.stop != nil {
		return nil
	}
	return func() {
		leave := func() {
			r.abandon()
			r.wizard.show(r.wizard.source)
		}
		if r.recorder == nil || r.count() == 0 {
			leave()
			return
		}
		r.wizard.discard("Discard the recording?", several(r.count(), "request")+" recorded so far.", leave)
	}
}

// submit starts the recording.
func (r *record) submit(fyne.Focusable) bool {
	if !r.start.Disabled() {
		r.begin()
	}
	return true
}

func (r *record) changed() {
	for _, name := range []string{"target", "listen"} {
		r.fields.Row(name).Changed()
	}
	r.follow()
}

// follow updates the buttons and the fields.
func (r *record) follow() {
	idle := r.recorder == nil && !r.busy
	enable(r.start, idle && strings.TrimSpace(r.target.Text) != "")
	enable(r.use, r.recorder != nil && !r.busy && r.count() > 0)
	enable(r.target, idle)
	enable(r.listen, idle)
	if idle && r.state.Text() == "" {
		r.state.SetText("Type the address of the backend, and press Start.")
	}
	if r.wizard.shown == r {
		r.wizard.follow()
	}
}

// begin starts a recording.
func (r *record) begin() {
	target := strings.TrimSpace(r.target.Text)
	if !strings.Contains(target, "://") {
		target = scheme(target) + target
		r.target.SetText(target)
	}
	order := Recording{Listen: strings.TrimSpace(r.listen.Text), Target: target, CA: r.wizard.source.ca}
	r.mu.Lock()
	r.session++
	this := r.session
	r.came, r.total, r.drawn = nil, 0, -1
	r.mu.Unlock()
	r.busy = true
	r.state.SetText("Starting…")
	r.follow()
	on := r.wizard.dialog
	each := func(x Exchange) { r.add(this, x) }
	async.Work(func() (Recorder, error) { return r.wizard.desk.Record(context.Background(), order, each) }, func(got Recorder, err error) {
		r.busy = false
		switch {
		case err != nil:
			if rest := r.fields.Tell(err); rest != nil {
				r.state.SetProblem("The recording was not started. " + words.Trouble(rest))
			} else {
				r.state.SetText("The recording was not started.")
			}
		case r.wizard.dialog != on: // it was closed meanwhile
			drop(got)
			return
		default:
			r.recorder = got
			r.usage = fmt.Sprintf("Use %s in place of %s: as the base URL of the client, or as the address in the browser.", got.Address(), order.Target)
			r.say(got.Trouble(), "")
		}
		r.follow()
	})
}

// add keeps an exchange until it is drawn.
func (r *record) add(session int, x Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if session != r.session {
		return
	}
	r.total++
	if r.came = append(r.came, x); len(r.came) > 2*mostRecorded {
		r.came = slices.Clone(r.came[len(r.came)-mostRecorded:])
	}
}

// count returns how many exchanges were recorded.
func (r *record) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// tick draws the exchanges that came since.
func (r *record) tick() {
	r.mu.Lock()
	if r.total == r.drawn {
		r.mu.Unlock()
		return
	}
	r.drawn = r.total
	came := slices.Clone(r.came[max(0, len(r.came)-mostRecorded):])
	total := r.total
	r.mu.Unlock()
	rows := make([]widgets.Row, len(came))
	for i, x := range came { // newest first
		rows[len(came)-1-i] = recordedRow(total-len(came)+i, &x)
	}
	r.table.SetRows(rows)
	if r.recorder != nil && !r.busy && total > 0 {
		r.say(silent(came, r.target.Text), " "+several(total, "request")+" recorded.")
	}
	r.follow()
}

// say shows how a client uses the recorder and what was recorded, or why the backend does not answer.
func (r *record) say(trouble, recorded string) {
	if trouble != "" {
		r.state.SetWarning(trouble + ". Start the backend; the recorder is ready at " + r.recorder.Address() + "." + recorded)
		return
	}
	r.state.Say(r.usage + recorded)
}

// silent says why the last exchange has no answer; "" if it has one.
func silent(came []Exchange, target string) string {
	last := came[len(came)-1]
	if last.Failure == "" {
		return ""
	}
	_, host, _ := strings.Cut(target, "://")
	host, _, _ = strings.Cut(host, "/")
	return host + " did not answer: " + last.Failure
}

// recordedRow is a row of the table.
func recordedRow(number int, x *Exchange) widgets.Row {
	status, tone := strconv.Itoa(x.Status), widgets.Neutral
	switch {
	case x.Status == 0:
		status, tone = "none", widgets.Warning
	case x.Status >= 400:
		tone = widgets.Warning
	}
	return widgets.Row{Key: strconv.Itoa(number), Cells: []widgets.Cell{{Text: x.Request}, {Text: status, Tone: tone, Tip: x.Failure}, {Text: engine.FormatDuration(x.Took)}}}
}

// end stops the recording and reads it.
func (r *record) end() {
	got := r.recorder
	r.recorder, r.busy = nil, true
	r.state.SetText("Stopping…")
	r.follow()
	async.Work(got.Stop, func(s Source, err error) {
		r.busy = false
		if err != nil {
			r.state.SetProblem("The recording cannot be used. " + words.Trouble(err))
			r.follow()
			return
		}
		r.state.SetText("")
		r.follow()
		r.wizard.show(r.wizard.source)
		r.wizard.read(s)
	})
}

// abandon ends the recording and drops it.
func (r *record) abandon() {
	r.mu.Lock()
	r.session++
	r.came, r.total = nil, 0
	r.mu.Unlock()
	if r.recorder != nil {
		drop(r.recorder)
		r.recorder = nil
	}
	r.state.SetText("")
	r.follow()
}

// drop stops a recorder without using what it recorded.
func drop(r Recorder) {
	async.Work(r.Stop, func(Source, error) {})
}
