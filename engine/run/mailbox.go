package run

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// mailbox passes functions and events to the node's goroutine. It is safe for concurrent use.
type mailbox struct {
	orders chan func(*node)
	events chan event
	done   chan struct{} // closed when the run has ended
}

func newMailbox() mailbox {
	return mailbox{make(chan func(*node)), make(chan event), make(chan struct{})}
}

// do runs f in the node's goroutine, even while the run writes its end, and returns its error. It returns ErrEnded if the
// run has ended.
func (m *mailbox) do(f func(n *node) error) error {
	result := make(chan error, 1)
	select {
	case m.orders <- func(n *node) { result <- f(n) }:
		return m.await(context.Background(), result)
	case <-m.done:
		return engine.ErrEnded
	}
}

// order runs f in the node's goroutine. It returns ErrEnded if the run is already writing its end.
func (m *mailbox) order(f func(n *node)) error {
	return m.do(func(n *node) error {
		if n.core.life.writingEnd {
			return engine.ErrEnded
		}
		f(n)
		return nil
	})
}

// send steps the core with an event, even while the run writes its end, and waits for that step.
func (m *mailbox) send(e event) error {
	return m.do(func(n *node) error { n.step(e); return nil })
}

// post steps the core with an event, unless the run has ended. It does not wait for that step.
func (m *mailbox) post(e event) {
	select {
	case m.events <- e:
	case <-m.done:
	}
}

// ask steps the core with an order and waits until its answer arrives.
func (m *mailbox) ask(ctx context.Context, order func(n *node, to answerID) event) error {
	result := make(chan error, 1)
	if err := m.order(func(n *node) { n.step(order(n, n.answer(result))) }); err != nil {
		return err
	}
	return m.await(ctx, result)
}

// await returns the result of an order. It returns ErrEnded if the run has ended without one, or the cause of ctx.
func (m *mailbox) await(ctx context.Context, result <-chan error) error {
	select {
	case err := <-result:
		return err
	case <-m.done:
		select {
		case err := <-result:
			return err
		default:
			return engine.ErrEnded
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
