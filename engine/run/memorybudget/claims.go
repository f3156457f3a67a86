package memorybudget

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// Claims holds the claims of one session on the memory budget of this process.
type Claims struct {
	budget *Budget
	held   holding
}

var _ engine.MemoryClaims = (*Claims)(nil)

// Claims returns the claims of a session that holds nothing yet.
func (b *Budget) Claims() *Claims { return &Claims{budget: b} }

// Take claims n bytes if they are free.
func (c *Claims) Take(path string, n int64, use engine.MemoryUse) bool {
	if !c.budget.tryClaim(&c.held, n, use == engine.AgentMemory) {
		return false
	}
	c.record(path, n, use)
	return true
}

// Wait claims n bytes and waits until they are free.
func (c *Claims) Wait(ctx context.Context, path string, n int64, use engine.MemoryUse) error {
	err := c.budget.wait(ctx, &c.held, n, use == engine.AgentMemory)
	if err == nil {
		c.record(path, n, use)
	}
	return err
}

// record notes which step's answer holds the bytes.
func (c *Claims) record(path string, n int64, use engine.MemoryUse) {
	if use == engine.AnswerMemory {
		c.budget.record(&c.held, path, n)
	}
}

// Force claims n bytes for an answer, even if they are not free.
func (c *Claims) Force(path string, n int64) {
	c.budget.force(&c.held, n)
	c.budget.record(&c.held, path, n)
}

// Return releases a part of the bytes that an answer holds.
func (c *Claims) Return(path string, n int64) {
	b := c.budget
	b.record(&c.held, path, -n)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(&c.held, n)
}

// Settle reduces the bytes of an ended step to n. It returns how many must still be claimed if the step holds fewer.
func (c *Claims) Settle(path string, n int64) (more int64) {
	return c.budget.settle(&c.held, path, n)
}

// Block records whether the session waits for other sessions.
func (c *Claims) Block(waits bool) {
	more := -1
	if waits {
		more = 1
	}
	c.budget.block(&c.held, more)
}

// Holds reports whether the session holds any memory.
func (c *Claims) Holds() bool { return c.held.nonZero.Load() }

// Release releases everything. If the session commits, the agent's part is kept until the barrier.
func (c *Claims) Release(commits bool) { c.budget.releaseAll(&c.held, commits) }
