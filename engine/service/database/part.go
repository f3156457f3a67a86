package database

import "fmt"

// part is one of several equal parts of the connections, for a worker. The zero value is all of them.
type part struct{ index, of int }

// share returns the share of n. The shares of all parts add up to n, or each is at least as large as least.
func (p part) share(n, least int) int {
	if p.of <= 1 {
		return n
	}
	share := n / p.of
	if p.index < n%p.of {
		share++
	}
	return max(share, least)
}

// sizes returns how many connections may be kept, and how many may be open. mu is held.
func (p *Pool) sizes() (keep, all int) {
	keep, all = p.wanted, p.wanted+p.BurstSize
	if p.ceiling > 0 {
		keep, all = min(keep, p.ceiling), min(all, p.ceiling)
	}
	most := p.part.share(keep, 1)
	return most, most + p.part.share(all-keep, 0)
}

// Divide limits the pool to one of several equal parts of its connections, by its index from 0. It returns an error if there are more
// parts than connections, and then changes nothing. Excess connections are closed when their statements have ended.
func (p *Pool) Divide(index, parts int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if parts > p.wanted {
		return fmt.Errorf("%d workers cannot share %d connections; raise limits.connections, or use fewer workers", parts, p.wanted)
	}
	p.part = part{index, parts}
	p.limit()
	return nil
}

// Settled reports whether the open connections fit the limits, after they were lowered.
func (p *Pool) Settled() bool {
	p.mu.Lock()
	_, all := p.sizes()
	p.mu.Unlock()
	return p.Open() <= all
}

// Sizes returns how many connections may be kept, and how many more may be open while these are in use.
func (p *Pool) Sizes() (keep, burst int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keep, all := p.sizes()
	return keep, all - keep
}
