package service

import (
	"context"
	"errors"
	"net/http"

	"github.com/throng-sim/throng/engine"
)

const (
	// unboundedAnswer is how many tokens of an answer are claimed that max_tokens does not bound, before any is known of
	// the model; then it is answerRoom times the longest so far, and leastAnswer at least.
	unboundedAnswer = 1024
	answerRoom      = 1.5
	leastAnswer     = 64

	// What is claimed for a prompt: promptRoom times the tokens that its length comes to by what is known of the service,
	// else a token for every firstBytes; and what a service wraps round a call and each message.
	promptRoom = 1.25
	firstBytes = 3
	wrapping   = 16
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
		usage := c.bill.told()
		if usage == nil && a == nil { // nobody says what it took: perhaps all that was claimed for it
			usage = &c.claimed.Usage
		}
		spent.Usage.Add(usage)
	}
	return spent
}

// bill is what the attempts of a call of a model take.
type bill struct {
	from    *LLM
	model   string
	asked   int           // bytes of the texts
	form    int           // bytes of the form that is asked for
	parts   int           // messages or texts
	longest int           // tokens of the answer; negative where the call does not say
	usage   *engine.Usage // of the answer that came last; nil is none, or that it is counted
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

// most is what an attempt may take at most, by estimate.
func (b *bill) most() *engine.Usage {
	answer := int64(b.longest)
	if answer < 0 {
		answer = b.from.meter.longestOf(b.model)
	}
	most := b.from.prices.most(b.model, b.from.meter.atMost(b.model, b.asked+b.form)+int64(wrapping*(1+b.parts)), answer)
	most.Estimated = 1
	return most
}

// took notes what an answer tells; answered is how long its text is, in bytes, and err why it cannot be used. An error
// in place of an answer costs nothing.
func (b *bill) took(told tokens, answered int, err error) {
	if _, ok := errors.AsType[*engine.StepError](err); ok {
		return
	}
	b.usage = b.from.meter.usage(b.from.prices, b.model, told, b.asked, answered)
	if err == nil {
		b.from.meter.answered(b.model, b.usage.Output)
	}
}

// told is what the answer to the newest attempt told; nil is nothing.
func (b *bill) told() *engine.Usage {
	usage := b.usage
	b.usage = nil
	return usage
}
