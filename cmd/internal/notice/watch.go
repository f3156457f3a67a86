package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// mostWaiting is the length of the queue for a server that does not answer. The oldest messages are dropped.
const mostWaiting = 16

// Run is a run that is watched.
type Run interface {
	Snapshot() *engine.Snapshot
	Done() <-chan struct{}
	Wait() run.Result
}

var _ Run = (*run.Run)(nil)

// Config configures the notifications of a run.
type Config struct {
	Run      Run
	Scenario string // title of the scenario
	Target   Target
	Redact   func(text string) string // removes secrets
	// Failed is called from another goroutine when notifications start to fail, once until they succeed again.
	Failed func(err error)

	times times // zero means the defaults
}

// Watch sends the notifications of one run until the run has ended. The run does not wait for it.
type Watch struct {
	cfg      Config
	notifier view.Notifier
	queue    []*Message
	told     map[view.Occasion]time.Time // time of the last notification
	missed   map[view.Occasion]int       // events since then without a notification
	ill      bool                        // the last message failed

	cancel context.CancelFunc // cancels the message being sent
	ended  chan struct{}      // closed after the last message
}

// Start starts to watch a run.
func Start(cfg Config) *Watch {
	if cfg.times == (times{}) {
		cfg.times = usual
	}
	w := &Watch{cfg: cfg, told: map[view.Occasion]time.Time{}, missed: map[view.Occasion]int{}, ended: make(chan struct{})}
	if s := cfg.Run.Snapshot(); s.Phase != engine.Ended {
		w.notifier.See(s)
	} else { // it was shorter than the way here; its end is still to be reported
		w.notifier.See(&engine.Snapshot{})
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.watch(ctx)
	return w
}

// Close waits until the run has ended and its last notifications are sent, at most 15 s after the end. Closing hurry cancels
// the rest. The nil Watch does nothing.
func (w *Watch) Close(hurry <-chan struct{}) {
	if w == nil {
		return
	}
	select {
	case <-hurry:
		w.cancel()
		<-w.ended
	case <-w.ended:
	}
}

func (w *Watch) watch(ctx context.Context) {
	defer close(w.ended)
	defer w.cancel()
	client := newClient(w.cfg.times.attempt)
	defer client.CloseIdleConnections()
	look := time.NewTicker(w.cfg.times.look)
	defer look.Stop()
	over, sent := w.cfg.Run.Done(), make(chan error, 1)
	sending := false
	for {
		if !sending && len(w.queue) > 0 {
			next := w.queue[0]
			w.queue, sending = w.queue[1:], true
			go func() { sent <- send(ctx, client, w.cfg.Target, next, w.cfg.times.first) }()
		}
		if over == nil && !sending {
			return
		}
		select {
		case <-look.C:
			if over != nil {
				w.look(nil)
			}
		case err := <-sent:
			sending = false
			w.heard(err)
		case <-over:
			over = nil
			result := w.cfg.Run.Wait()
			w.look(&result)
			defer time.AfterFunc(w.cfg.times.last, w.cancel).Stop()
		}
	}
}

// look queues messages for new events of the run. result is not nil after the end.
func (w *Watch) look(result *run.Result) {
	s := w.cfg.Run.Snapshot()
	if s.Phase == engine.Ended && result == nil { // the result follows
		return
	}
	now := time.Now()
	for _, n := range w.notifier.See(s) {
		if at, was := w.told[n.Occasion]; was && now.Sub(at) < w.cfg.times.again && !view.KindOf(n.Occasion).Once {
			w.missed[n.Occasion]++
			continue
		}
		m := messageOf(n, s, w.cfg.Scenario)
		if m.Again = w.missed[n.Occasion]; m.Again > 0 {
			m.Text += fmt.Sprintf(" (%d more since the last notification.)", m.Again)
		}
		if result != nil && s.Phase == engine.Ended {
			m.judge(result)
		}
		if w.cfg.Redact != nil {
			m.Title, m.Text, m.Scenario = w.cfg.Redact(m.Title), w.cfg.Redact(m.Text), w.cfg.Redact(m.Scenario)
		}
		w.told[n.Occasion], w.missed[n.Occasion] = now, 0
		if w.queue = append(w.queue, m); len(w.queue) > mostWaiting {
			w.queue = w.queue[1:]
		}
	}
}

// heard reports the first of several failures.
func (w *Watch) heard(err error) {
	if err != nil && !w.ill && w.cfg.Failed != nil {
		w.cfg.Failed(fmt.Errorf("no notification could be sent to %s; the run continues: %w", w.cfg.Target.Host(), err))
	}
	w.ill = err != nil
}
