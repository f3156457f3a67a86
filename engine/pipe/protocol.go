// Package pipe executes a run's sessions in another process. [Pool] is the run's side, an [run.WorkerPool]; [Serve] is
// the worker's, which executes them in a local pool whose host is the run at the other end. Both talk in frames over a pair
// of byte streams, such as the standard input and output of a child process; rows have the form of package codec.
//
// Each end sends without waiting for the other, but for calls: those of a session that need an answer.
package pipe

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
)

// The kinds of frames that go to the worker.
const (
	helloFrame byte = iota + 1
	beginFrame
	releaseFrame
	againFrame
	holdFrame
	endFrame
	startFrame
	limitFrame
	useFrame
	rememberFrame
	retireFrame
	cutFrame
	replyFrame
)

// The kinds of frames that come from the worker.
const (
	batchFrame byte = iota + 64
	viewFrame
	appendFrame
	settleFrame
	traceFrame
	throttledFrame
	callFrame
	cancelFrame
)

// method is what a call asks for.
type method byte

const (
	commitCall method = iota + 1
	doubtCall
	tryClaimCall
	claimCall
	recallCall
	takeIntentCall
	settleSharedCall
	tracedCall
	recordedCall
)

// hello is the first frame: what the worker must know of the run.
type hello struct {
	Run          engine.HostRun
	Settings     engine.Settings
	Keeps        bool
	MemoryBudget int64
}

type start struct {
	Workers int
	Probe   bool
}

type release struct {
	Count  int
	Waited time.Duration
}

// view is what a pool shows of its sessions in flight.
type view struct {
	Cycle    int
	Progress run.Progress
	Activity []engine.Activity
}

type settled struct{ Claimed, Spent engine.Outlay }

type traced struct {
	Exchange engine.Exchange
	Failed   bool
}

// The bodies of calls, but for rows.
type (
	agentCall struct {
		Cycle, Agent int
		Failed       bool
	}
	keyCall struct {
		Key  engine.SharedKey
		Path string
	}
	sharedCall struct {
		Row   engine.SharedRow
		Spent engine.Outlay
	}
)

// reply answers a call.
type reply struct {
	OK      bool
	Entry   engine.Entry
	Entries engine.Prefix
	Error   string // empty on success
	Cut     bool   // the error is an ErrCut
	Unpaid  string // why the budget is used up, if the error is that
}

// fail puts an error into the reply.
func (r *reply) fail(err error) {
	if err != nil {
		r.Error, r.Cut, r.Unpaid = err.Error(), errors.Is(err, engine.ErrCut), engine.CutAloneWhy(err)
	}
}

// err is the error of the reply.
func (r *reply) err() error {
	switch {
	case r.Error == "":
		return nil
	case r.Unpaid != "":
		return engine.CutAlone(r.Unpaid)
	case r.Cut:
		return fmt.Errorf("%w: %s", engine.ErrCut, r.Error)
	}
	return errors.New(r.Error)
}

// maxFrame bounds a frame, in bytes.
const maxFrame = 1 << 30

// conn is one end of a pipe. Many may send; one receives.
type conn struct {
	in  *bufio.Reader
	out io.Writer
	// buf holds the buffer for frames, except while a sender has it. It is a channel and not a lock because the sender waits for the
	// reader meanwhile: synctest knows that a goroutine waits for a channel, but not for a lock, and its clock would stand still.
	buf chan []byte
}

func newConn(in io.Reader, out io.Writer) *conn {
	c := &conn{in: bufio.NewReaderSize(in, 1<<16), out: out, buf: make(chan []byte, 1)}
	c.buf <- nil
	return c
}

// send writes a frame whose body f appends. After an error the other end is gone, which the receiver notices.
func (c *conn) send(kind byte, f func(dst []byte) []byte) error {
	const room = 4
	buf := append((<-c.buf)[:0], 0, 0, 0, 0, kind)
	defer func() { c.buf <- buf }()
	if f != nil {
		buf = f(buf)
	}
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-room))
	_, err := c.out.Write(buf)
	return err
}

// sendRecord writes a frame whose body is a record.
func (c *conn) sendRecord(kind byte, v any) error {
	return c.send(kind, func(dst []byte) []byte { return codec.AppendWire(dst, v) })
}

// sendNumber writes a frame whose body is a number.
func (c *conn) sendNumber(kind byte, n int64) error {
	return c.send(kind, func(dst []byte) []byte { return binary.AppendVarint(dst, n) })
}

// receive reads a frame. Its body is the caller's.
func (c *conn) receive() (kind byte, body []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(c.in, size[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n == 0 || n > maxFrame {
		return 0, nil, codec.ErrDamaged
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return 0, nil, err
	}
	return body[0], body[1:], nil
}

// number reads the body of sendNumber.
func number(body []byte) (int64, error) {
	n, k := binary.Varint(body)
	if k <= 0 {
		return 0, codec.ErrDamaged
	}
	return n, nil
}

// record reads the body of sendRecord.
func record[T any](body []byte) (v T, err error) {
	err = codec.Unmarshal(body, &v)
	return v, err
}

// appendBatch appends a batch and how far the pool is.
func appendBatch(dst []byte, b *run.Batch, of view) []byte {
	head := codec.AppendWire(nil, struct {
		Counts run.BatchCounts
		View   view
	}{b.BatchCounts, of})
	dst = append(binary.AppendUvarint(dst, uint64(len(head))), head...)
	return codec.AppendSessions(dst, b.Rows())
}

// readBatch is the inverse of appendBatch.
func readBatch(body []byte) (*run.Batch, view, error) {
	n, k := binary.Uvarint(body)
	if k <= 0 || n > uint64(len(body)-k) {
		return nil, view{}, codec.ErrDamaged
	}
	head, err := record[struct {
		Counts run.BatchCounts
		View   view
	}](body[k : k+int(n)])
	if err != nil {
		return nil, view{}, err
	}
	rows, err := codec.ReadSessions(body[k+int(n):])
	if err != nil {
		return nil, view{}, err
	}
	return run.NewBatch(rows, head.Counts), head.View, nil
}

// viewEvery is how often a worker says what its sessions are at.
const viewEvery = 100 * time.Millisecond

// cutCause is the error with which a worker's sessions are cut.
func cutCause(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return engine.ErrCut
}
