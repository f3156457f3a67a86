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
	lookEvery     = 150 * time.Millisecond // minimum time between two reads
	timelineBeats = 12                     // ticks between two reads of the timeline
	mostTicks     = 2000                   // marks on the scrubber
)

// speeds are the playback speeds.
var speeds = []struct {
	name  string
	times float64
}{{"×1", 1}, {"×10", 10}, {"×60", 60}}

// history is the row that moves through the history, and the moment that is shown. Only the last requested moment is read next; requests in
// between are dropped.
type history struct {
	screen   *Screen
	content  *fyne.Container
	scrubber *widgets.Scrubber
	says     *widgets.Line
	play     *widget.Button
	earlier  *widget.Button // one cycle
	later    *widget.Button
	leave    *widget.Button // returns to the live run
	speed    *widgets.Segments

	job      *Job
	timeline *engine.RunTimeline // nil: not read yet
	marks    []widgets.Tick      // of the timeline
	known    doings              // of the timeline
	reading  bool                // the timeline is being read
	beats    int                 // ticks since it was read
	at       time.Time           // requested moment; zero is live
	feed     *feed               // the shown moment; nil is live
	busy     bool                // a moment is being read
	last     time.Time           // time of the last read
	pending  *time.Timer
	playing  bool
	played   time.Time // how far playback has come
	trouble  string
	hover    string
}

func newHistory(s *Screen) *history {
	l := &history{screen: s, scrubber: widgets.NewScrubber(), says: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet)}
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

// begin resets the history for a job.
func (l *history) begin(job *Job) {
	l.drop()
	l.job, l.timeline, l.marks, l.known, l.reading, l.trouble = job, nil, nil, doings{}, false, ""
	l.content.Hidden = job.Past == nil
	l.read()
	l.draw()
}

// drop returns to the live run without drawing it.
func (l *history) drop() {
	if l.pending != nil {
		l.pending.Stop()
	}
	l.at, l.feed, l.playing = time.Time{}, nil, false
}

// active reports whether a past moment is selected.
func (l *history) active() bool { return !l.at.IsZero() }

// tick continues playback and reads the newest part of the timeline.
func (l *history) tick() {
	now := doingsOf(l.screen.feed.snap)
	now.settled = true
	if l.beats++; l.beats >= timelineBeats && (now != l.known || len(l.spans()) == 0) {
		l.read()
	}
	if l.playing {
		now := l.screen.now()
		by := time.Duration(float64(now.Sub(l.played)) * speeds[l.speed.Chosen()].times)
		l.played = now
		l.seek(l.scrubber.Along(l.at, by))
	}
}

// seek shows a moment; the end of the run is live.
func (l *history) seek(at time.Time) {
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

// back shows the live run.
func (l *history) back() {
	was := l.active()
	l.drop()
	if was {
		l.screen.shown.rows = -1
		l.screen.draw()
	}
	l.draw()
}

// next reads the requested moment, unless a read is in progress or was a moment ago.
func (l *history) next() {
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
			l.next() // a request for another run meanwhile
			return
		}
		if !l.active() {
			return
		}
		if err != nil {
			l.stop()
			l.trouble = "Cannot read that moment: " + err.Error() + ". Shown: " + map[bool]string{true: "the current state", false: "another"}[l.feed == nil]
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

// page jumps to the start of the cycle before or after, or of the shown cycle if that is an earlier moment.
func (l *history) page(by int) {
	end := l.end()
	if end.IsZero() {
		return
	}
	l.stop()
	begins := []time.Time{l.spans()[0].From}
	for i := range l.timeline.Barriers {
		begins = append(begins, l.timeline.Barriers[i].At)
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

// playOrStop plays from the moment, or from the start of the run.
func (l *history) playOrStop() {
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

func (l *history) stop() { l.playing = false }

// enterOrLeave goes a minute back, or returns to the live run or the run in progress.
func (l *history) enterOrLeave() {
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
