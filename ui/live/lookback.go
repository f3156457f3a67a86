package live

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

const (
	lookEvery   = 150 * time.Millisecond // between two moments, at least
	courseBeats = 12                     // ticks between two looks at what the run did since
	mostTicks   = 2000                   // marks on the scrubber
)

// speeds are how much faster than it was a run is played.
var speeds = []struct {
	name  string
	times float64
}{{"×1", 1}, {"×10", 10}, {"×60", 60}}

// lookback is the row with which a person looks back on the run, and the moment that is shown. What was asked for last
// is read next; what was asked for meanwhile is not.
type lookback struct {
	screen   *Screen
	content  *fyne.Container
	scrubber *widgets.Scrubber
	says     *widgets.Line
	play     *widget.Button
	earlier  *widget.Button // by a cycle
	later    *widget.Button
	leave    *widget.Button // back to the run
	speed    *widgets.Segments

	job     *Job
	course  *engine.Course // nil: not read yet
	marks   []widgets.Tick // of it
	known   doings         // that it tells of
	reading bool           // of the course
	beats   int            // since it was read
	at      time.Time      // that is wanted; zero is the run as it is
	feed    *feed          // as of the moment that is shown; nil is the run as it is
	busy    bool           // a moment is being read
	last    time.Time      // when one was asked for
	pending *time.Timer
	playing bool
	played  time.Time // up to when
	trouble string
	hover   string
}

func newLookback(s *Screen) *lookback {
	l := &lookback{screen: s, scrubber: widgets.NewScrubber(), says: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet)}
	l.scrubber.OnChanged = func(at time.Time) {
		l.stop()
		l.seek(at)
	}
	l.scrubber.OnPage = l.page
	l.scrubber.OnHover = func(text string) {
		l.hover = text
		l.say()
	}
	l.earlier = widget.NewButtonWithIcon("", theme.MediaSkipPreviousIcon(), func() { l.page(-1) })
	l.later = widget.NewButtonWithIcon("", theme.MediaSkipNextIcon(), func() { l.page(1) })
	l.play = widget.NewButtonWithIcon("", theme.MediaPlayIcon(), l.playOrStop)
	l.leave = widget.NewButton("History", l.enterOrLeave)
	var names []string
	for _, s := range speeds {
		names = append(names, s.name)
	}
	l.speed = widgets.NewSegments(names, nil)
	l.speed.Choose(1)
	hands := container.NewHBox(form.NewCompact(l.leave), form.NewCompact(l.earlier), form.NewCompact(l.play), form.NewCompact(l.later), l.speed)
	l.content = container.NewStack(widgets.NewPanel("", container.New(&scrubRow{}, hands, l.scrubber, l.says)))
	l.content.Hide()
	return l
}

// begin starts afresh with a job.
func (l *lookback) begin(job *Job) {
	l.drop()
	l.job, l.course, l.marks, l.known, l.reading, l.trouble = job, nil, nil, doings{}, false, ""
	l.content.Hidden = job.Past == nil
	l.read()
	l.draw()
}

// drop goes back to the run as it is, without drawing it.
func (l *lookback) drop() {
	if l.pending != nil {
		l.pending.Stop()
	}
	l.at, l.feed, l.playing = time.Time{}, nil, false
}

// active reports whether a person looks back.
func (l *lookback) active() bool { return !l.at.IsZero() }

// tick goes on playing, and looks at what the run did since.
func (l *lookback) tick() {
	now := doingsOf(l.screen.feed.snap)
	now.settled = true
	if l.beats++; l.beats >= courseBeats && (now != l.known || len(l.spans()) == 0) {
		l.read()
	}
	if l.playing {
		now := l.screen.now()
		by := time.Duration(float64(now.Sub(l.played)) * speeds[l.speed.Chosen()].times)
		l.played = now
		l.seek(l.scrubber.Along(l.at, by))
	}
}

// seek shows a moment; at the end the run as it is.
func (l *lookback) seek(at time.Time) {
	end := l.end()
	switch {
	case l.job == nil || end.IsZero():
		return
	case !at.Before(end):
		l.back()
		return
	}
	l.at = at
	l.next()
	l.draw()
}

// back shows the run as it is.
func (l *lookback) back() {
	was := l.active()
	l.drop()
	if was {
		l.screen.shown.rows = -1
		l.screen.draw()
	}
	l.draw()
}

// next reads the moment that is wanted, unless one is being read, or was just now.
func (l *lookback) next() {
	if l.busy || !l.active() {
		return
	}
	job := l.job
	if early := lookEvery - l.screen.now().Sub(l.last); early > 0 {
		if l.pending != nil {
			l.pending.Stop()
		}
		l.pending = time.AfterFunc(early, func() {
			async.Do(func() {
				if l.job == job {
					l.next()
				}
			})
		})
		return
	}
	at := l.at
	l.busy, l.last = true, l.screen.now()
	async.Work(func() (*engine.Moment, error) { return job.Past.Moment(context.Background(), at) }, func(m *engine.Moment, err error) {
		l.busy = false
		if l.job != job {
			l.next() // what was wished for of the other run meanwhile
			return
		}
		if !l.active() {
			return
		}
		if err != nil {
			l.stop()
			l.trouble = "that moment could not be read: " + err.Error() + "; what is shown is " + map[bool]string{true: "the run as it is", false: "another"}[l.feed == nil]
		} else {
			s := l.screen
			l.trouble, l.feed = "", s.feed.as(m)
			s.draw()
		}
		l.draw()
		if !l.at.Equal(at) {
			l.next()
		}
	})
}

// page goes to the begin of a cycle: of the one before or after, or of the shown one where that is further back.
func (l *lookback) page(by int) {
	end := l.end()
	if end.IsZero() {
		return
	}
	l.stop()
	begins := []time.Time{l.spans()[0].From}
	for i := range l.course.Barriers {
		begins = append(begins, l.course.Barriers[i].At)
	}
	at := l.at
	if !l.active() {
		at = end
	}
	to := begins[0]
	if by > 0 {
		to = end
	}
	for _, begin := range begins {
		if by < 0 && begin.Before(at) {
			to = begin
		}
		if by > 0 && begin.After(at) {
			to = begin
			break
		}
	}
	l.seek(to)
}

// playOrStop plays from the moment on, or from the beginning.
func (l *lookback) playOrStop() {
	if l.playing {
		l.stop()
		l.draw()
		return
	}
	end := l.end()
	if end.IsZero() {
		return
	}
	if !l.active() {
		l.seek(l.spans()[0].From)
	}
	l.playing, l.played = true, l.screen.now()
	l.draw()
}

func (l *lookback) stop() { l.playing = false }

// enterOrLeave goes a minute back, or back to the run as it is, or to the run in progress.
func (l *lookback) enterOrLeave() {
	switch end := l.end(); {
	case l.active():
		l.back()
	case l.screen.elsewhere():
		l.screen.Follow()
	case !end.IsZero():
		l.seek(l.scrubber.Along(end, -time.Minute))
		l.screen.win.Canvas().Focus(l.scrubber)
	}
}
