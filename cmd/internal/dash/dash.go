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

// every is how far apart pictures are at least, but for what a key changes.
const every = 250 * time.Millisecond

// Config is what a dashboard shows, and where.
type Config struct {
	In, Out *os.File // both a terminal: see [Usable]
	Look    Look
	// Watch and Order are two clients of the run: what is ordered may take long, and the picture does not wait for it.
	Watch, Order *control.Client
	// Own says that the run is of this process: q is then handed to Stop, each time that it is typed. Else q ends the
	// dashboard, and S stops the run.
	Own  bool
	Stop func()
}

// Dash is a dashboard. Run shows it; Say and Close may be called by any goroutine.
type Dash struct {
	cfg     Config
	screen  screen
	picture picture
	said    chan span
	orders  chan order
	limit   int       // that was ordered last
	ordered time.Time // when that was
}

// order is something to be done to the run. What it returns is shown.
type order func(ctx context.Context, c *control.Client) (string, error)

// Open takes the terminal.
func Open(cfg Config) (*Dash, error) {
	d := &Dash{
		cfg: cfg, screen: screen{in: cfg.In, out: cfg.Out, look: cfg.Look}, picture: picture{own: cfg.Own},
		said: make(chan span, 16), orders: make(chan order, 16),
	}
	return d, d.screen.open()
}

// Close gives the terminal back. It may be called more than once, also when the program is about to end by force.
func (d *Dash) Close() { d.screen.close() }

// Say shows a line at the foot of the dashboard.
func (d *Dash) Say(text string) { d.tell(span{text, strong}) }

func (d *Dash) tell(s span) {
	select {
	case d.said <- s:
	default: // more than anybody reads
	}
}

// Run shows the run until it has ended, the context has, or somebody leaves.
func (d *Dash) Run(ctx context.Context) error {
	defer d.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, seen := make(chan int, 64), make(chan *view.Status)
	lost := make(chan error, 1)
	go listen(d.cfg.In, keys)
	go func() { lost <- d.watch(ctx, seen) }()
	go d.carryOut(ctx)
	wentOn, stop := jobs()
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
			d.picture.course.add(s)
			if s.Phase == engine.Ended.String() {
				return nil
			}
		case d.picture.said = <-d.said:
		case k := <-keys:
			if k == ctrlZ {
				d.screen.release()
				suspend(wentOn)
			} else if d.press(k) {
				return nil
			}
		case <-wentOn:
			d.screen.release() // the shell may have changed the terminal
		}
	}
}

// watch looks at the run again and again. A run that has ended is no error.
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

// carryOut gives the orders, one after another.
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
				d.tell(span{"✖ " + strings.ReplaceAll(err.Error(), "\n", "; "), bad})
			default:
				d.tell(span{text, strong})
			}
		}
	}
}

func (d *Dash) order(do order) {
	select {
	case d.orders <- do:
	default:
		d.tell(span{"too many orders at once; this one was not given", warning})
	}
}

// press does what a key says; true is that somebody leaves.
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
		d.screen.anew()
	case p.status != nil:
		d.steer(k)
	}
	return false
}

// next returns the next or previous page; the help counts as before the first.
func next(v page, way int) page {
	if v >= numViews {
		return overview
	}
	return (v + numViews + page(way)) % numViews
}

// steer gives the order of a key.
func (d *Dash) steer(k int) {
	s := d.picture.status
	switch k {
	case '+', '=':
		d.move(s, 1)
	case '-', '_':
		d.move(s, -1)
	case 'p', ' ':
		if s.Phase == engine.Paused.String() {
			d.order(func(ctx context.Context, c *control.Client) (string, error) { return "goes on", c.Continue(ctx) })
			return
		}
		d.order(func(ctx context.Context, c *control.Client) (string, error) {
			return "paused: sessions in flight end, and no other starts; p goes on", c.Pause(ctx, "")
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
				return "stopping at once", c.Stop(ctx, true, "")
			}
			return "stopping: sessions in flight end, then a checkpoint; S again cuts them", c.Stop(ctx, false, "")
		})
	}
}

// move orders another limit by a tenth or, where a governor moves that, another ceiling of it. Keys that follow each
// other go on from what was ordered last.
func (d *Dash) move(s *view.Status, way int) {
	name, from := engine.LimitSetting, s.Limit
	if d.picture.governed() {
		name, from = engine.CeilingSetting, s.Ceiling
	}
	if time.Since(d.ordered) < time.Second {
		from = d.limit
	}
	to := max(from+way*max(from/10, 1), 1)
	d.limit, d.ordered = to, time.Now()
	d.order(func(ctx context.Context, c *control.Client) (string, error) {
		changes, err := c.Set(ctx, []engine.Assignment{{Name: name, Value: strconv.Itoa(to)}}, "")
		var words []string
		for _, one := range changes {
			words = append(words, fmt.Sprintf("%s %s → %s", one.Name, one.Old, one.New))
		}
		return strings.Join(words, ", "), err
	})
}
