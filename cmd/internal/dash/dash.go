package dash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// every is the minimum time between pictures, except after a key.
const every = 250 * time.Millisecond

// Config configures a dashboard.
type Config struct {
	In, Out *os.File // terminals; see [Usable]
	Look    Look
	// Watch and Order are two clients of the run: an order may take long, and the picture does not wait for it.
	Watch, Order *control.Client
	// Own means that the run belongs to this process: q calls Stop each time. Otherwise q leaves the dashboard, and S stops
	// the run.
	Own  bool
	Stop func()
}

// Dash is a dashboard. Run shows it; Say and Close may be called from any goroutine.
type Dash struct {
	cfg     Config
	screen  screen
	picture picture
	said    chan span
	orders  chan order
	limit   int         // that the keys have chosen; 0 if the run has it
	settle  *time.Timer // sends limit once no key follows
}

// settleAfter is how long after the last key for the limit one order sends it.
const settleAfter = 600 * time.Millisecond

// order is an operation on the run. The dashboard shows its result.
type order func(ctx context.Context, c *control.Client) (string, error)

// Open takes over the terminal.
func Open(cfg Config) (*Dash, error) {
	d := &Dash{
		cfg: cfg, screen: screen{in: cfg.In, out: cfg.Out, look: cfg.Look}, picture: picture{own: cfg.Own},
		said: make(chan span, 16), orders: make(chan order, 16),
		settle: time.NewTimer(0),
	}
	d.settle.Stop()
	return d, d.screen.open()
}

// Close restores the terminal. It may be called more than once, also while the program crashes.
func (d *Dash) Close() { d.screen.close() }

// Say shows a line at the bottom of the dashboard.
func (d *Dash) Say(text string) { d.post(span{text, strong}) }

func (d *Dash) post(s span) {
	select {
	case d.said <- s:
	default: // too many messages to read
	}
}

// Run shows the run until the run ends, ctx is canceled, or the user leaves.
func (d *Dash) Run(ctx context.Context) error {
	defer d.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, seen := make(chan int, 64), make(chan *view.Status)
	lost := make(chan error, 1)
	go listen(d.cfg.In, keys)
	go func() { lost <- d.watch(ctx, seen) }()
	go d.carryOut(ctx)
	resumed, stop := jobs()
	defer stop()
	for {
		if err := errors.Join(d.screen.open(), d.screen.show(&d.picture)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-lost:
			return err
		case s := <-seen:
			d.picture.status = s
			d.picture.recent.add(s)
			if s.Phase == engine.Ended.String() {
				return nil
			}
		case d.picture.said = <-d.said:
		case k := <-keys:
			if k == ctrlZ {
				d.screen.release()
				suspend(resumed)
			} else if d.press(k) {
				return nil
			}
		case <-d.settle.C:
			d.sendLimit()
		case <-resumed:
			d.screen.release() // the shell may have changed the terminal settings
		}
	}
}

// watch polls the status of the run. The end of the run is not an error.
func (d *Dash) watch(ctx context.Context, seen chan<- *view.Status) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := d.cfg.Watch.Status(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, engine.ErrEnded):
			return nil
		case err != nil:
			return err
		}
		select {
		case seen <- s:
		case <-ctx.Done():
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// carryOut executes the orders in turn.
func (d *Dash) carryOut(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case do := <-d.orders:
			text, err := do(ctx, d.cfg.Order)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				d.post(span{"✖ " + strings.ReplaceAll(err.Error(), "\n", "; "), bad})
			default:
				d.post(span{text, strong})
			}
		}
	}
}

func (d *Dash) order(do order) {
	select {
	case d.orders <- do:
	default:
		d.post(span{"too many orders are waiting; this one was dropped", warning})
	}
}

// press handles a key. It reports whether the user leaves the dashboard.
func (d *Dash) press(k int) (leaves bool) {
	p := &d.picture
	switch {
	case k == 'q' || k == ctrlC:
		if !d.cfg.Own {
			return true
		}
		d.cfg.Stop()
	case k == '?' || k == 'h':
		if p.view == help {
			p.view = overview
		} else {
			p.view = help
		}
	case k == 0x1b || k == '\r':
		p.view = overview
	case k == tab:
		p.view = next(p.view, 1)
	case k == backTab:
		p.view = next(p.view, -1)
	case k >= '1' && k < '1'+int(numViews):
		p.view = page(k - '1')
	case k == ctrlL:
		d.screen.invalidate()
	case p.status != nil:
		d.steer(k)
	}
	return false
}

// next returns the next or previous page. The help counts as the page before the first.
func next(v page, way int) page {
	if v >= numViews {
		return overview
	}
	return (v + numViews + page(way)) % numViews
}

// steer sends the order of a key.
func (d *Dash) steer(k int) {
	s := d.picture.status
	switch k {
	case '+', '=':
		d.move(s, 1)
	case '-', '_':
		d.move(s, -1)
	case 'a':
		d.limit = 0
		d.set(engine.Automatic)
	case 'p', ' ':
		if s.Phase == engine.Paused.String() {
			d.order(func(ctx context.Context, c *control.Client) (string, error) { return "continued", c.Continue(ctx) })
			return
		}
		d.order(func(ctx context.Context, c *control.Client) (string, error) {
			return "paused; sessions in flight finish; press p to continue", c.Pause(ctx, "")
		})
	case 'c':
		d.order(func(ctx context.Context, c *control.Client) (string, error) {
			return "checkpoint taken", c.Checkpoint(ctx, "")
		})
	case 'S':
		if d.cfg.Own {
			return
		}
		cut := s.Phase == engine.Draining.String()
		d.order(func(ctx context.Context, c *control.Client) (string, error) {
			if cut {
				return "stopping immediately", c.Stop(ctx, true, "")
			}
			return "stopping: sessions in flight finish, then a checkpoint; press S again to cancel them", c.Stop(ctx, false, "")
		})
	}
}

// move changes the limit by 10%. Keys in quick succession are one order.
func (d *Dash) move(s *view.Status, way int) {
	from := s.Limit
	if d.limit > 0 {
		from = d.limit
	}
	d.limit = max(from+way*max(from/10, 1), 1)
	d.picture.said = span{"limit " + strconv.Itoa(d.limit), strong}
	d.settle.Reset(settleAfter)
}

// sendLimit orders the limit that the keys have chosen.
func (d *Dash) sendLimit() {
	n := d.limit
	if d.limit = 0; n > 0 {
		d.set(strconv.Itoa(n))
	}
}

// set orders a limit.
func (d *Dash) set(limit string) {
	d.order(func(ctx context.Context, c *control.Client) (string, error) {
		changes, err := c.Set(ctx, []engine.Assignment{{Name: engine.LimitSetting, Value: limit}}, "")
		var words []string
		for _, one := range changes {
			words = append(words, fmt.Sprintf("%s %s → %s", engine.Subject(one.Name), one.Old, one.New))
		}
		return strings.Join(words, ", "), err
	})
}
