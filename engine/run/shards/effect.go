package shards

// Effect is an action that the owner of a [Book] carries out, in order.
type Effect interface{ effect() }

type (
	// Offer offers a shard to a worker, or to all if To is "".
	Offer struct {
		To     string
		Ticket Ticket
	}
	// Withdraw takes an offer back. A worker may already have received it; its claim is refused then.
	Withdraw struct{ Ticket Ticket }
	// Share tells a worker its newest share of the limit.
	Share struct{ Worker string }
	// Lost tells that a worker has lost a lease: what it sends under it is stale.
	Lost struct {
		Worker string
		Lease  Lease
	}
	// Recall asks a worker to give back sessions that it has not started.
	Recall struct {
		Worker string
		Count  int
	}
	// Depart tells the run that slots are free.
	Depart struct{ Slots, Probes int }
)

func (Offer) effect()    {}
func (Withdraw) effect() {}
func (Share) effect()    {}
func (Lost) effect()     {}
func (Recall) effect()   {}
func (Depart) effect()   {}
