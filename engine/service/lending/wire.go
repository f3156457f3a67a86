// Package lending lets the service clients of worker processes keep to the limits of the coordinator's clients.
//
// The coordinator's [Lending] admits the requests of all workers with its own rate limiters and concurrency limits. A worker's
// [Borrower] asks for admissions when requests wait, several in one message, and passes on what services say. Nothing is kept in
// stock: an admission that no request waits for is returned immediately.
package lending

import (
	"context"
	"errors"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Lender is a worker's connection to the coordinator's [Lending]. It is safe for concurrent use. The borrower repeats a call that
// returned an error, with the same content, so that it does not matter whether the message arrived.
type Lender interface {
	// Admit asks for admissions. It waits for a few seconds, and returns none if there are none by then. The borrower then repeats
	// the ask, which keeps its place in the queue.
	Admit(ctx context.Context, a Ask) (Grant, error)
	// Tell passes on notes. Calls are not concurrent.
	Tell(ctx context.Context, n Notes) (Lent, error)
}

// ErrUnknown is returned for a worker that has not joined, or was forgotten.
var ErrUnknown = errors.New("the worker has not joined the run")

// Ask asks for admissions of requests to one endpoint of a service.
type Ask struct {
	ID       uint64               `cbor:"1,keyasint"` // increases with each new ask of the worker
	Over     uint64               `cbor:"2,keyasint"` // the worker has the answers of all asks up to this one
	Service  string               `cbor:"3,keyasint"`
	Endpoint string               `cbor:"4,keyasint"`
	Requests int                  `cbor:"5,keyasint"` // that wait
	Cause    engine.ThrottleCause `cbor:"6,keyasint"` // that they are shown as throttled by
	Member   uint64               `cbor:"7,keyasint"` // from [Lending.Join]
}

// Grant answers an [Ask].
type Grant struct {
	First    uint64               `cbor:"1,keyasint"` // number of the first admission; the others follow it
	Requests int                  `cbor:"2,keyasint"` // admitted; 0 if all still wait
	Rated    bool                 `cbor:"3,keyasint"` // they have a rate
	Cause    engine.ThrottleCause `cbor:"4,keyasint"` // what they wait or waited for
	Lent     Lent                 `cbor:"5,keyasint"`
	Waited   bool                 `cbor:"6,keyasint"` // the limits left no room when the ask arrived
}

// Lent says which services' requests need no admission, because nothing limits them. The zero value says none.
type Lent struct {
	Version uint64   `cbor:"1,keyasint"` // of several, the highest applies
	Free    []string `cbor:"2,keyasint"` // names of services, in order
	Member  uint64   `cbor:"3,keyasint"` // in the result of [Lending.Join], a number that fences off what the worker sent before
}

// Notes are what a worker passes on, in order.
type Notes struct {
	Number uint64 `cbor:"1,keyasint"` // increases; repeated notes have the same one
	Lent   uint64 `cbor:"2,keyasint"` // version of the [Lent] that the worker follows
	All    []Note `cbor:"3,keyasint"`
	Member uint64 `cbor:"4,keyasint"` // from [Lending.Join]
}

// Note is one event at a worker. Which fields are set depends on the kind.
type Note struct {
	Kind     Kind            `cbor:"1,keyasint"`
	ID       uint64          `cbor:"2,keyasint,omitempty"` // of an admission or an ask
	Service  string          `cbor:"3,keyasint,omitempty"`
	Endpoint string          `cbor:"4,keyasint,omitempty"`
	Said     *admission.Said `cbor:"5,keyasint,omitempty"`
	Age      time.Duration   `cbor:"6,keyasint,omitempty"` // how long ago the request was sent
	N        int             `cbor:"7,keyasint,omitempty"`
}

// Kind is the kind of a note.
type Kind uint8

// The kinds of notes.
const (
	Ended     Kind = iota // ID: the request of an admission has ended
	Returned              // ID: the request of an admission was not sent; Ended follows
	Heard                 // Said, to the request of the admission ID, or if that is 0 to one at Endpoint that left Age ago
	Used                  // N tokens were used by a request to Endpoint
	Began                 // N requests are in flight that needed no admission when they began
	Over                  // one of these has ended
	Withdrawn             // ID: no request waits for the ask
)
