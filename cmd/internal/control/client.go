package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
)

// Client sends orders to a run in progress. It is for use by one goroutine.
type Client struct {
	conn net.Conn
	in   *bufio.Reader
	run  engine.RunID
	who  string
}

// dialTime is how long connecting to a process may take.
const dialTime = 5 * time.Second

// Dial connects to the process that executes a run of the data folder. Orders of the client are for that run only.
func Dial(ctx context.Context, data string, run engine.RunID) (*Client, error) {
	conn, err := reach(ctx, data, ofRun(run))
	if err != nil {
		return nil, unreachable(run, err)
	}
	return &Client{conn: conn, in: bufio.NewReader(conn), run: run, who: myself()}, nil
}

// reach connects to a socket of the data folder.
func reach(ctx context.Context, data string, n names) (net.Conn, error) {
	folder, err := folderOf(data)
	if err != nil {
		return nil, err
	}
	socket, away, err := placed(folder, n)
	if err == nil && away {
		err = checkOwner(filepath.Dir(socket))
	}
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", socket)
}

func unreachable(run engine.RunID, err error) error {
	return fmt.Errorf("run %s cannot be reached: %w; use the terminal or window that started it", run, err)
}

// myself returns the name of this client, for the journal.
func myself() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return fmt.Sprintf("terminal (%s@%d)", name, os.Getpid())
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// ask sends a request and waits for its reply, however long the order takes.
func (c *Client) ask(ctx context.Context, q request) (*reply, error) {
	q.Version, q.Run, q.Who = version, string(c.run), c.who
	line, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if len(line) >= mostRequest {
		return nil, &engine.FieldError{Field: q.Order, Problem: "that is too much for one order", Hint: "at most " + engine.FormatBytes(mostRequest)}
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Now()) })()
	if _, err := c.conn.Write(append(line, '\n')); err != nil {
		return nil, c.lost(ctx, err)
	}
	text, err := readLine(c.in, mostReply)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("the answer of run %s cannot be read: %w", c.run, err)
	}
	if r.Error != nil {
		return nil, r.Error.err()
	}
	return &r, nil
}

// lost returns the reason why there is no reply.
func (c *Client) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("run %s ended before it answered: %w", c.run, errors.Join(engine.ErrEnded, err))
}

func (c *Client) order(ctx context.Context, q request) error {
	_, err := c.ask(ctx, q)
	return err
}

// Status returns the status of the run.
func (c *Client) Status(ctx context.Context) (*view.Status, error) {
	r, err := c.ask(ctx, request{Order: orderStatus})
	switch {
	case err != nil:
		return nil, err
	case r.Status == nil:
		return nil, fmt.Errorf("run %s did not say how it is doing", c.run)
	}
	return r.Status, nil
}

// Tunables returns the settings that can be changed mid-run, with their values.
func (c *Client) Tunables(ctx context.Context) ([]engine.Tunable, error) {
	r, err := c.ask(ctx, request{Order: orderTunables})
	if err != nil {
		return nil, err
	}
	return r.Tunables, nil
}

// Set changes all of the settings, or none if one is invalid. It returns an *engine.FieldError for an invalid one.
func (c *Client) Set(ctx context.Context, settings []engine.Assignment, why string) ([]engine.Change, error) {
	r, err := c.ask(ctx, request{Order: orderSet, Settings: settings, Why: why})
	if err != nil {
		return nil, err
	}
	return r.Changes, nil
}

// Pause lets sessions in flight finish and starts no new ones until Continue.
func (c *Client) Pause(ctx context.Context, why string) error {
	return c.order(ctx, request{Order: orderPause, Why: why})
}

// Continue continues a paused run.
func (c *Client) Continue(ctx context.Context) error {
	return c.order(ctx, request{Order: orderContinue})
}

// Stop stops the run after the sessions in flight have finished or, with cut, immediately.
func (c *Client) Stop(ctx context.Context, cut bool, why string) error {
	order := orderStop
	if cut {
		order = orderCut
	}
	return c.order(ctx, request{Order: order, Why: why})
}

// Checkpoint takes a checkpoint and waits until it is durable.
func (c *Client) Checkpoint(ctx context.Context, why string) error {
	return c.order(ctx, request{Order: orderCheckpoint, Why: why})
}

// Retire retires agents, given by IDs or indexes, from the next cycle on.
func (c *Client) Retire(ctx context.Context, agents []string) error {
	return c.order(ctx, request{Order: orderRetire, Agents: agents})
}

// Requeue retries failed sessions of the current cycle.
func (c *Client) Requeue(ctx context.Context, agents []string) error {
	return c.order(ctx, request{Order: orderRequeue, Agents: agents})
}

// Broadcast puts a message into the inboxes of the agents with these IDs, or of all agents if ids is empty.
func (c *Client) Broadcast(ctx context.Context, ids []string, text string) error {
	return c.order(ctx, request{Order: orderBroadcast, Agents: ids, Text: text})
}

// Workers returns the workers of the fleet that executes the run.
func (c *Client) Workers(ctx context.Context) ([]workers.State, error) {
	r, err := c.ask(ctx, request{Order: orderWorkers})
	if err != nil {
		return nil, err
	}
	return r.Workers, nil
}

// DrainWorker lets a worker end its sessions and take no others.
func (c *Client) DrainWorker(ctx context.Context, name string) error {
	return c.order(ctx, request{Order: orderDrain, Worker: name})
}

// UndrainWorker lets a worker that was drained take sessions again.
func (c *Client) UndrainWorker(ctx context.Context, name string) error {
	return c.order(ctx, request{Order: orderUndrain, Worker: name})
}

// RemoveWorker cuts the sessions of a worker, which run again elsewhere, and refuses the worker from now on.
func (c *Client) RemoveWorker(ctx context.Context, name string) error {
	return c.order(ctx, request{Order: orderRemove, Worker: name})
}

// LimitWorker bounds the sessions in flight of a worker; 0 sets no bound.
func (c *Client) LimitWorker(ctx context.Context, name string, most int) error {
	return c.order(ctx, request{Order: orderLimit, Worker: name, Limit: most})
}
