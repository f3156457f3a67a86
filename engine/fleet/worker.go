package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/service/lending"
)

// WorkerConfig describes a worker.
type WorkerConfig struct {
	Link Link
	Info Info
	// Prepare makes the sessions of a run executable. Clients of services take their limits from the borrower; what cannot be borrowed,
	// such as connections to databases, is limited to a part. An error says why this machine cannot execute the sessions exactly.
	Prepare func(ctx context.Context, bundle []byte, from *lending.Borrower, part Part) (*Prepared, error)
	// Host samples the machine; nil reports nothing.
	Host func() engine.HostMetrics
	// Once ends the worker after its first run.
	Once bool
	// Say, if set, receives what happens, as sentences.
	Say func(text string)
}

// Part is one of several equal parts, from 0. Without parts, Of is 0.
type Part struct{ Index, Of int }

// Prepared is a run that a worker can execute.
type Prepared struct {
	Program  engine.Program
	Services []engine.Service
	Close    func() error
}

// RefusedError is the reason why a coordinator refuses a worker.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "the coordinator refuses this worker: " + e.Why }

// parted is how long a worker continues without an answer from the coordinator. It is shorter than the time after which the coordinator
// passes its sessions to others, so that no session runs twice at the same time.
const parted = LeaseTime - BeatEvery/2

// errParted ends the work on a run when the coordinator does not answer.
var errParted = fmt.Errorf("%w: the coordinator did not answer for %s", engine.ErrCut, engine.FormatDuration(parted))

// Work executes sessions for the coordinator at the other end of the link until ctx ends. If the coordinator does not answer, it joins
// again.
func Work(ctx context.Context, cfg WorkerConfig) error {
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	for ctx.Err() == nil {
		sent, err := greetCoordinator(ctx, &cfg)
		if err != nil {
			return err
		}
		cfg.Say("joined as " + cfg.Link.Name())
		switch err := serve(ctx, &cfg, sent); {
		case err == nil:
			return nil
		case !errors.Is(err, errParted):
			return err
		}
		cfg.Say("the coordinator does not answer; trying again")
	}
	return nil
}

// greetCoordinator joins, as soon as the coordinator answers. It returns when the request was sent that has an answer.
func greetCoordinator(ctx context.Context, cfg *WorkerConfig) (sent time.Time, err error) {
	greeting := request(helloRequest, hello{cfg.Info, rand.Uint64()})
	for {
		sent = time.Now()
		answer, err := cfg.Link.Request(ctx, greeting)
		if err == nil {
			w, err := record[welcome](answer)
			if err == nil && w.Refused != "" {
				err = &RefusedError{w.Refused}
			}
			return sent, err
		}
		if errors.Is(err, ErrClosed) {
			return sent, err
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return sent, nil
		}
	}
}

// server executes runs for a coordinator that it has joined.
type server struct {
	cfg     *WorkerConfig
	beats   *beats
	current *job   // nil between runs
	refused uint64 // the session that this machine cannot execute
}

// serve executes runs until ctx ends, or the coordinator does not answer. heard is when it answered last.
func serve(ctx context.Context, cfg *WorkerConfig, heard time.Time) error {
	beats, endBeats := startBeats(cfg.Link, heard)
	defer endBeats()
	s := &server{cfg: cfg, beats: beats}
	defer s.end()
	tick := time.NewTicker(BeatEvery / 5)
	defer tick.Stop()
	for {
		select {
		case data := <-cfg.Link.Orders():
			if over, err := s.obey(ctx, data); over || err != nil {
				return err
			}
		case <-tick.C:
			if s.current != nil && s.current.refused.Load() || beats.silent() {
				return errParted
			}
		case <-ctx.Done():
			if s.current != nil {
				s.current.leave()
			}
			s.end()
			sayGoodbye(cfg.Link)
			return nil
		}
	}
}

// end ends the work on the current run.
func (s *server) end() {
	if s.current != nil {
		s.current.end()
		s.current = nil
	}
}

// obey carries out an order. It reports whether the worker has ended its only run.
func (s *server) obey(ctx context.Context, data []byte) (over bool, err error) {
	o, err := record[order](data)
	if err != nil {
		return false, err
	}
	if o.Join {
		return false, errParted
	}
	if c := s.current; c != nil && (o.Run != c.of || o.Session != c.session) {
		if s.end(); s.cfg.Once && o.Run != c.of {
			return true, nil
		}
	}
	if s.current == nil && o.Run != "" && o.Session != s.refused {
		if s.current, err = begin(ctx, s.cfg, &o, s.beats); err != nil {
			s.cfg.Say(err.Error())
			s.refused = o.Session
		}
	}
	if s.current != nil {
		s.current.apply(&o)
	}
	return false, nil
}

// sayGoodbye tells the coordinator that the worker ends, so that it need not wait for the lease.
func sayGoodbye(link Link) {
	ctx, cancel := context.WithTimeout(context.Background(), BeatEvery)
	defer cancel()
	_, _ = link.Request(ctx, []byte{byeRequest}) // without an answer, the coordinator notices that the worker is silent
}

// begin prepares for a run and tells the coordinator whether that was possible.
func begin(ctx context.Context, cfg *WorkerConfig, o *order, beats *beats) (*job, error) {
	of := ready{Session: o.Session}
	j, err := prepare(ctx, cfg, o, beats)
	if err != nil {
		of.Refused = err.Error()
	}
	for ctx.Err() == nil {
		if _, failure := cfg.Link.Request(ctx, request(readyRequest, of)); failure == nil || beats.silent() {
			break
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
	return j, err
}

// receiveTime is how long a worker tries to receive a bundle before it tells the coordinator that it cannot.
const receiveTime = 10 * time.Second

// receive receives a bundle, also if the connection is interrupted meanwhile.
func receive(ctx context.Context, link Link, name string, beats *beats) ([]byte, error) {
	for began := time.Now(); ; {
		bundle, err := link.Bundle(ctx, name)
		if err == nil || ctx.Err() != nil || beats.silent() || time.Since(began) > receiveTime {
			return bundle, err //nolint:wrapcheck // prepare wraps it
		}
		select {
		case <-time.After(BeatEvery):
		case <-ctx.Done():
		}
	}
}

func prepare(ctx context.Context, cfg *WorkerConfig, o *order, beats *beats) (*job, error) {
	bundle, err := receive(ctx, cfg.Link, o.Bundle, beats)
	if err != nil {
		return nil, fmt.Errorf("receive the scenario: %w", err)
	}
	j := newJob(ctx, cfg, o, beats)
	p, err := cfg.Prepare(ctx, bundle, j.borrower, o.Part)
	if err != nil {
		j.cancel(err)
		j.borrower.Close()
		return nil, err
	}
	j.start(p)
	return j, nil
}

// beats tells the coordinator that a worker is alive, and knows when it last answered.
type beats struct{ heard lastAnswer }

// startBeats sends beats until the returned function is called.
func startBeats(link Link, heard time.Time) (*beats, func()) {
	b := &beats{lastAnswer{first: heard}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(BeatEvery)
		defer tick.Stop()
		for {
			sent := time.Now()
			if link.Beat(ctx) == nil {
				b.heard.note(sent)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return b, func() {
		cancel()
		<-done
	}
}

// silent reports whether the coordinator has not answered for long.
func (b *beats) silent() bool { return time.Since(b.heard.at()) > parted }

// send sends a request and reads the answer.
func send[T any](ctx context.Context, link Link, kind byte, message any) (v T, err error) {
	data, err := link.Request(ctx, request(kind, message))
	if err != nil {
		return v, err
	}
	err = codec.Unmarshal(data, &v)
	return v, err
}
