package decision

import "github.com/throng-sim/throng/engine/internal/draw"

// Sampled reports whether one of agents, counted from 0, belongs to a sample of n of them. The sample is drawn without replacement from a
// key, and an agent's place in it needs no list: it is the agent's image under a permutation of all agents.
func Sampled(key draw.Key, agent, agents, n int) bool {
	switch {
	case n <= 0 || agent < 0 || agent >= agents:
		return false
	case n >= agents:
		return true
	}
	return permuted(key, uint64(agent), uint64(agents)) < uint64(n)
}

const (
	rounds  = 6
	minHalf = 4 // bits of half a block: networks over fewer reach too few permutations to be fair
)

// permuted returns the image of x under a permutation of the numbers below n: a Feistel network over an even number of bits, repeated
// until the image is below n (Black and Rogaway: Ciphers with Arbitrary Finite Domains, 2002).
func permuted(key draw.Key, x, n uint64) uint64 {
	half := uint(minHalf)
	for 1<<(2*half) < n {
		half++
	}
	mask := uint64(1)<<half - 1
	for {
		left, right := x>>half, x&mask
		for round := range uint64(rounds) {
			_, mixed := key.Int(round).Int(right).Sum()
			left, right = right, left^mixed&mask
		}
		if x = left<<half | right; x < n {
			return x
		}
	}
}
