// Package line has the commands for the queue: what waits to start in a data folder.
package line

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out  io.Writer
	JSON bool
	Data string
}

func (t *Terminal) queue() *queue.Queue { return queue.Of(t.Data, slog.Default()) }

// done prints what a command did.
func (t *Terminal) done(text string) error {
	if t.JSON {
		return answer.Print(t.Out, answer.Done{Done: text})
	}
	_, err := fmt.Fprintln(t.Out, text)
	return err
}

// Commands are the commands for the queue.
type Commands struct {
	List     listCmd     `cmd:"" default:"withargs" help:"List the runs and experiments that wait, in the order in which they start. This is the default: queue means queue list."`
	Cancel   cancelCmd   `cmd:"" help:"Cancel a run or an experiment that waits: it starts nothing."`
	Priority priorityCmd `cmd:"" help:"Change the priority of a run or an experiment that waits."`
}

// jsonFlag is the flag of commands with JSON output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type listCmd struct{ jsonFlag }

// Run is called by kong.
func (*listCmd) Run(t *Terminal) error {
	all, err := t.queue().List()
	if err != nil {
		return err
	}
	if t.JSON {
		return answer.Print(t.Out, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(t.Out, "Nothing waits. Runs and experiments wait here while another one is in progress, or with --at for their start time.")
		return err
	}
	w := show.NewTable(t.Out)
	fmt.Fprintln(w, "ID\tPRIORITY\tSTARTS\tWAITS SINCE\tPROCESS\tWORK")
	for i := range all {
		e := &all[i]
		show.Row(w, "%s\t%d\t%s\t%s\t%s\t%s\n", e.ID, e.Priority, Starts(e, i, time.Now()), show.Time(e.Since), cmp.Or(e.Program, "unknown")+" "+strconv.Itoa(e.Process), e.Work)
	}
	return w.Flush()
}

// Starts says when an entry at an index of the queue starts.
func Starts(e *queue.Entry, index int, now time.Time) string {
	switch {
	case e.Start.After(now):
		return show.Time(e.Start)
	case index == 0:
		return "next"
	default:
		return "after " + engine.Counted(int64(index), "other", "others")
	}
}

type cancelCmd struct {
	ID string `arg:"" help:"ID in the queue; throngctl queue lists them."`
	jsonFlag
}

// Run is called by kong.
func (c *cancelCmd) Run(t *Terminal) error {
	if err := t.queue().Cancel(c.ID); err != nil {
		return err
	}
	return t.done("Canceled " + c.ID + ": it starts nothing.")
}

type priorityCmd struct {
	ID string `arg:"" help:"ID in the queue; throngctl queue lists them."`
	N  int    `arg:"" help:"New priority: higher ones start first; 0 is the default. A negative one needs -- before it."`
	jsonFlag
}

// Run is called by kong.
func (c *priorityCmd) Run(t *Terminal) error {
	if err := t.queue().Prioritize(c.ID, c.N); err != nil {
		return err
	}
	return t.done(fmt.Sprintf("Priority of %s: %d.", c.ID, c.N))
}
