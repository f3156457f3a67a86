package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
)

// version is the version of the protocol.
const version = 1

// The longest lines, in bytes.
const (
	mostRequest = 256 << 10
	mostReply   = 8 << 20
)

// The orders.
const (
	orderStatus     = "status"
	orderTunables   = "tunables"
	orderSet        = "set"
	orderPause      = "pause"
	orderContinue   = "continue"
	orderStop       = "stop"
	orderCut        = "cut"
	orderCheckpoint = "checkpoint"
	orderRetire     = "retire"
	orderRequeue    = "requeue"
	orderBroadcast  = "broadcast"
	orderWorkers    = "workers"
	orderDrain      = "drain"
	orderUndrain    = "undrain"
	orderRemove     = "remove"
	orderLimit      = "limit"
)

// request is a line sent to the run.
type request struct {
	Version  int                 `json:"version"`
	Run      string              `json:"run,omitempty"` // the ID of the run; "" means any
	Order    string              `json:"order"`
	Who      string              `json:"who,omitempty"`
	Why      string              `json:"why,omitempty"`
	Settings []engine.Assignment `json:"settings,omitempty"` // of set
	Agents   []string            `json:"agents,omitempty"`   // of retire, requeue and broadcast
	Text     string              `json:"text,omitempty"`     // of broadcast
	Worker   string              `json:"worker,omitempty"`   // of drain, remove and limit
	Limit    int                 `json:"limit,omitempty"`    // of limit
}

// reply is a line sent by the run.
type reply struct {
	Version  int              `json:"version"`
	Error    *fault           `json:"error,omitempty"`
	Status   *view.Status     `json:"status,omitempty"`
	Tunables []engine.Tunable `json:"tunables,omitempty"`
	Changes  []engine.Change  `json:"changes,omitempty"`
	Workers  []workers.State  `json:"workers,omitempty"`
}

// fault is an error in a reply.
type fault struct {
	Text     string    `json:"text"`
	Mistakes []mistake `json:"mistakes,omitempty"` // set if all parts of the error are mistakes of the user
	Ended    bool      `json:"ended,omitempty"`
}

// mistake is the JSON form of an *engine.FieldError.
type mistake struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

func newFault(err error) *fault {
	f := &fault{Text: err.Error(), Ended: errors.Is(err, engine.ErrEnded)}
	for _, one := range apart(err) {
		field, ok := one.(*engine.FieldError) //nolint:errorlint // a wrapping error has more text
		if !ok {
			f.Mistakes = nil
			break
		}
		f.Mistakes = append(f.Mistakes, mistake(*field))
	}
	return f
}

// apart returns the errors that were joined into err, at any depth.
func apart(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, apart(one)...)
	}
	return all
}

// err returns the error of a fault, with its sentinel.
func (f *fault) err() error {
	var mistakes []error
	for _, m := range f.Mistakes {
		field := engine.FieldError(m)
		mistakes = append(mistakes, &field)
	}
	switch {
	case mistakes != nil:
		return errors.Join(mistakes...)
	case f.Ended && f.Text == engine.ErrEnded.Error():
		return engine.ErrEnded
	case f.Ended:
		return fmt.Errorf("%s: %w", f.Text, engine.ErrEnded)
	}
	return errors.New(f.Text)
}

var errTooLong = errors.New("the line is too long")

// readLine returns the next line without its line feed. A line that the end of the input cuts off is an error.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// readRequest reads a request. Errors other than connection errors are sent to the client.
func readRequest(r *bufio.Reader) (q request, err error) {
	line, err := readLine(r, mostRequest)
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return request{}, &badLine{err}
	}
	return q, nil
}

// badLine is the error for a line that does not hold a request.
type badLine struct{ err error }

func (e *badLine) Error() string {
	return fmt.Sprintf("invalid order: %v; send one JSON object per line", e.err)
}

func (e *badLine) Unwrap() error { return e.err }
