package service

import (
	"context"
	"net/http"

	"github.com/throng-sim/throng/engine"
)

// claim reserves what the next attempt may use of the run's budget, and waits if there is not enough. A second call before the
// claim is settled does nothing. The claim comes before the slot, so that no call waits for the budget with a slot that others need
// to finish, and before the intent, so that a session that is cut here has sent nothing.
func (c budget) claim(ctx context.Context) error {
	purse := c.purse()
	if purse == nil || c.settle != nil {
		return nil
	}
	most := engine.Outlay{Requests: 1}
	if c.bill != nil {
		most.Usage = *c.bill.most()
	}
	settle, ok := purse.TryClaim(most)
	if !ok {
		err := c.held(engine.ThrottledByBudget, func() (err error) {
			settle, err = purse.Claim(ctx, most)
			return err
		})
		if err != nil {
			return err
		}
	}
	c.settle, c.claimed = settle, most
	return nil
}

// pay settles the claim of an attempt with what it used, which is nothing if it never left. In that case a call that must be sent
// at most once keeps its claim: it could not be sent later if the session were cut for the next claim. left says that its request
// was sent; a is nil if there was no response.
func (c budget) pay(left bool, a *Answer) {
	if spent := c.cost(left, a); !c.Once || spent != (engine.Outlay{}) {
		c.settled(&spent)
	}
}

// releaseClaim releases the claim of an attempt that will not be made.
func (c budget) releaseClaim() { c.settled(&nothing) }

// nothing is never changed.
var nothing engine.Outlay

func (c budget) settled(spent *engine.Outlay) {
	if c.settle != nil {
		c.settle(*spent)
	}
	c.settle, c.claimed = nil, engine.Outlay{}
	c.spent.Add(spent)
}

// cost returns what an attempt used. A throttled one used nothing.
func (c budget) cost(left bool, a *Answer) engine.Outlay {
	if !left || a != nil && a.Status == http.StatusTooManyRequests && !c.expects(a.Status) {
		return engine.Outlay{}
	}
	spent := engine.Outlay{Requests: 1}
	if c.bill != nil {
		usage := c.bill.took()
		if usage == nil && a == nil { // the usage is unknown, so assume the whole claim
			usage = &c.claimed.Usage
		}
		spent.Usage.Add(usage)
	}
	return spent
}

// charge writes the usage of all attempts into the record of a model call, and whether it may have been charged twice. A recorded
// response used nothing.
func (c budget) charge() {
	usage := c.spent.Usage
	if c.resent && c.Record.Attempts > 0 {
		usage.Again = 1
	}
	if c.Record.Label != engine.Recorded && usage != (engine.Usage{}) {
		c.Record.Usage = &usage
	}
}
