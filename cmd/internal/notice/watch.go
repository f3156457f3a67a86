package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// mostWaiting is how many notices wait for a server that does not answer; the oldest go.
const mostWaiting = 16

// Run is a run that is looked at.
type Run interface {
	Snapshot() *engine.Snapshot
	Done() <-chan struct{}
	Wait() run.Result
}

var _ Run = (*run.Run)(nil)

// Config is what is told of a run, and where.
type Config struct {
	Run      Run
	Scenario string // its title
	Target   Target
	Redact   func(text string) string // takes secrets out
	// Failed hears, once for as long as it lasts, that nothing can be told. It is called from another goroutine.
	Failed func(err error)

	times times // zero is the usual ones
}

// Watch tells of one run until that has ended. The run does not wait for it.
type Watch struct {
	cfg      Config
	notifier engine.Notifier
	queue    []*Message
	told     map[engine.Occasion]time.Time // when it was told last
	missed   map[engine.Occasion]int       // how often it was not, since
	ill      bool                          // the newest could not be told

	cancel context.CancelFunc // ends what is being sent
	ended  chan struct{}      // closed when the last is told
}

// Start begins to look at a run.
func Start(cfg Config) *Watch {
	if cfg.times == (times{}) {
		cfg.times = usual
	}
	w := &Watch{cfg: cfg, told: map[engine.Occasion]time.Time{}, missed: map[engine.Occasion]int{}, ended: make(chan struct{})}
	w.notifier.See(cfg.Run.Snapshot())
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.watch(ctx)
	return w
}

// Close waits until the run has ended and its last notices are told, 15 s at most after its end; none is any more when
// hurry is closed. The nil Watch tells nothing.
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

// look puts what is news about the run into the queue; result is that of its end.
func (w *Watch) look(result *run.Result) {
	s := w.cfg.Run.Snapshot()
	if s.Phase == engine.Ended && result == nil { // the result comes in a moment
		return
	}
	now := time.Now()
	for _, n := range w.notifier.See(s) {
		if at, was := w.told[n.Occasion]; was && now.Sub(at) < w.cfg.times.again && !engine.KindOf(n.Occasion).Once {
			w.missed[n.Occasion]++
			continue
		}
		m := messageOf(n, s, w.cfg.Scenario)
		if m.Again = w.missed[n.Occasion]; m.Again > 0 {
			m.Text += fmt.Sprintf(" (And %d times since it was told last.)", m.Again)
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

// heard tells of the first of several failures.
func (w *Watch) heard(err error) {
	if err != nil && !w.ill && w.cfg.Failed != nil {
		w.cfg.Failed(fmt.Errorf("a notice could not be sent to %s, and the run goes on all the same: %w", w.cfg.Target.Host(), err))
	}
	w.ill = err != nil
}
