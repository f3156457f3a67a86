package service

import (
	"context"
	"net/http"

	"github.com/throng-sim/throng/engine"
)

// claim sets aside of the run's budget what the next attempt may take, held as long as it must wait; once until it is
// paid. It comes before any gate, so that nobody waits for the budget in a place that others need to give back theirs,
// and before the intent, so that a session which is cut for it has asked nothing.
func (c *Call) claim(ctx context.Context) error {
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
		err := c.held(engine.BudgetGate, func() (err error) {
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

// pay settles what was claimed for an attempt with what it took; nothing, if it never left. Then one that must not happen
// twice keeps its claim: a session that was cut for the next could not send it any more.
func (c *Call) pay(spent engine.Outlay) {
	if !c.Once || spent != (engine.Outlay{}) {
		c.settled(spent)
	}
}

// giveBack settles what is claimed for an attempt that there will not be.
func (c *Call) giveBack() { c.settled(engine.Outlay{}) }

func (c *Call) settled(spent engine.Outlay) {
	if c.settle != nil {
		c.settle(spent)
	}
	c.settle, c.claimed, c.spent = nil, engine.Outlay{}, c.spent.Plus(spent)
}

// cost is what an attempt took that left or not, and had an answer or none. One that was refused took nothing.
func (c *Call) cost(left bool, a *Answer) engine.Outlay {
	if !left || a != nil && a.Status == http.StatusTooManyRequests && !c.expects(a.Status) {
		return engine.Outlay{}
	}
	spent := engine.Outlay{Requests: 1}
	if c.bill != nil {
		usage := c.bill.took()
		if usage == nil && a == nil { // nobody says what it took: perhaps all that was claimed for it
			usage = &c.claimed.Usage
		}
		spent.Usage.Add(usage)
	}
	return spent
}

// charge writes into the record of a call of a model what all its attempts took, and that it may have been paid twice. An
// answer from a recording took nothing.
func (c *Call) charge() {
	usage := c.spent.Usage
	if c.resent && c.Record.Attempts > 0 {
		usage.Again = 1
	}
	if c.Record.Label != engine.Recorded && usage != (engine.Usage{}) {
		c.Record.Usage = &usage
	}
}
