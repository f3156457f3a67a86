package assistant

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

const (
	startWait  = 20 * time.Second // until a run has started; after it, the run waits in the queue
	settleWait = 2 * time.Second  // for a run that has just begun or is ending
	endWait    = 60 * time.Second // for the checkpoint of a run that is stopped at the end of the server
)

// started holds the runs that this server started and that have not ended.
type started struct {
	mu     sync.Mutex
	runs   map[*child]struct{}
	gone   []unstarted
	closed bool
}

// child is a process that executes a run or an experiment.
type child struct {
	stop  []string // the command that stops it, without what it stops
	cmd   *exec.Cmd
	end   context.CancelFunc // kills it
	first chan []byte        // its first line; closed without one if it ended before
	done  chan struct{}      // closed when it has ended

	mu    sync.Mutex
	run   string // its ID, or the file of an experiment; "" before it has started
	queue string // its ID in the queue, if it waited
	begun bool
	text  strings.Builder
	err   error
}

// Write keeps what the process prints for people, up to a bound.
func (c *child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text.Len() < mostAnswer {
		c.text.Write(p)
	}
	return len(p), nil
}

func (c *child) printed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// id returns the ID of the run; "" before it has started.
func (c *child) id() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run
}

// waits reports whether it waits in the queue.
func (c *child) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue != "" && !c.begun
}

// wait waits for the end of the process, or of the context.
func (c *child) wait(ctx context.Context) {
	select {
	case <-c.done:
	case <-ctx.Done():
	}
}

// own returns the process of a run that this server started and that is in progress; nil if it is another's. Without a name it
// is the only one, if there is only one.
func (s *server) own(run string) *child {
	s.started.mu.Lock()
	defer s.started.mu.Unlock()
	for c := range s.started.runs {
		if id := c.id(); id != "" && id == run || run == "" && len(s.started.runs) == 1 {
			return c
		}
	}
	return nil
}

// start starts a process that executes a run, and returns the line that says so. The run outlives the call.
func (s *server) start(ctx context.Context, args ...string) ([]byte, error) {
	return s.begin(ctx, &child{stop: []string{"stop"}}, args)
}

// begin starts a process, and returns its first line: it has started, or waits in the queue.
func (s *server) begin(ctx context.Context, c *child, args []string) ([]byte, error) {
	if err := s.launch(c, args); err != nil {
		return nil, err
	}
	late := time.NewTimer(startWait)
	defer late.Stop()
	select {
	case line, ok := <-c.first:
		if ok {
			return inQueue(line)
		}
		<-c.done
		return nil, s.failure(c.err, c.printed())
	case <-late.C:
		return json.Marshal(map[string]string{
			"event": "waiting", "text": "It has not started yet; the tools queue and runs show whether it waits or has started. " + strings.TrimSpace(c.printed()),
		})
	case <-ctx.Done():
		c.end()
		return nil, context.Cause(ctx)
	}
}

// inQueue adds to a line what can be done if it says that the run waits.
func inQueue(line []byte) ([]byte, error) {
	var w answer.Waiting
	if json.Unmarshal(line, &w) != nil || w.Event != answer.WaitingEvent {
		return line, nil
	}
	return json.Marshal(struct {
		answer.Waiting
		Text string `json:"text"`
	}{w, "It starts when what is in progress has ended. The tool queue lists what waits, and queue_cancel takes it out of the queue."})
}

func (s *server) launch(c *child, args []string) error {
	s.started.mu.Lock()
	defer s.started.mu.Unlock()
	if s.started.closed {
		return errors.New("the server is ending")
	}
	ctx, end := context.WithCancel(context.Background())
	cmd, err := s.process(ctx, args...)
	if err != nil {
		end()
		return err
	}
	c.cmd, c.end, c.first, c.done = cmd, end, make(chan []byte, 1), make(chan struct{})
	cmd.Stderr = c
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		return fmt.Errorf("start throngctl: %w", err)
	}
	if s.started.runs == nil {
		s.started.runs = map[*child]struct{}{}
	}
	s.started.runs[c] = struct{}{}
	go s.follow(c, out)
	return nil
}

// follow reads what a process prints until it ends.
func (s *server) follow(c *child, out io.Reader) {
	in := bufio.NewReader(out)
	for n, begun := 0, false; !begun; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var event struct {
			Event string `json:"event"`
			Run   string `json:"run"`
			Queue string `json:"queue"`
		}
		_ = json.Unmarshal(line, &event) // without an ID it is not stopped by name
		begun = event.Event != answer.WaitingEvent
		c.mu.Lock()
		c.queue, c.begun = event.Queue, begun
		if c.run == "" {
			c.run = event.Run
		}
		c.mu.Unlock()
		if n == 0 {
			c.first <- line
		}
	}
	close(c.first)
	_, _ = io.Copy(io.Discard, in) // progress, which the tool status reads elsewhere
	c.err = c.cmd.Wait()
	c.end()
	close(c.done)
	s.started.mu.Lock()
	delete(s.started.runs, c)
	if c.err != nil && !c.begun && c.queue != "" {
		s.started.gone = append(s.started.gone, unstarted{c.queue, s.failure(c.err, c.printed()).Error()})
	}
	s.started.mu.Unlock()
}

// unstarted is a run or an experiment that left the queue without a start.
type unstarted struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// queue lists what waits, and what this server started and does not wait any more without having started.
func (s *server) queue(ctx context.Context) ([]byte, error) {
	waiting, err := s.execute(ctx, "queue", "--json")
	if err != nil {
		return nil, err
	}
	s.started.mu.Lock()
	defer s.started.mu.Unlock()
	return json.Marshal(struct {
		Waiting json.RawMessage `json:"waiting"`
		Gone    []unstarted     `json:"not_started,omitempty"`
	}{waiting, s.started.gone})
}

// close stops the runs that are in progress, each with a checkpoint, and waits for their ends.
func (s *server) close() (err error) {
	s.started.mu.Lock()
	s.started.closed = true
	all := make([]*child, 0, len(s.started.runs))
	for c := range s.started.runs {
		all = append(all, c)
	}
	s.started.mu.Unlock()
	for _, c := range all {
		run := c.id()
		if run == "" || c.waits() { // nothing is lost
			c.end()
		} else if _, stopErr := s.execute(context.Background(), append(c.stop, run, "--json")...); stopErr != nil {
			select {
			case <-c.done: // it ended meanwhile
			default:
				err = errors.Join(err, fmt.Errorf("stop %s: %w", run, stopErr))
			}
		}
	}
	late := time.After(endWait)
	for _, c := range all {
		select {
		case <-c.done:
		case <-late:
			return errors.Join(err, errors.New("a run did not stop in time; it continues: throngctl status shows it"))
		}
	}
	return err
}
