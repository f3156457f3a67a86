// Package draw is the one source of randomness: streams of numbers that are a pure function of the words they
// were keyed with, so that a run repeats whatever order its sessions end in.
package draw

import (
	"math"
	"math/bits"
)

// Key accumulates what a draw depends on. The zero value is an empty key; each With returns a new one, so a key
// for (seed, cycle, agent) can be kept and extended for each step and field.
type Key struct{ a, b uint64 }

// Int returns the key extended by a number.
func (k Key) Int(n uint64) Key {
	return Key{mix(k.a ^ mix(n+0x9e3779b97f4a7c15)), mix(k.b + mix(n^0xd1b54a32d192ed03))}
}

// Text returns the key extended by a text. The text's length is part of it, so ("ab", "c") and ("a", "bc") differ.
func (k Key) Text(s string) Key {
	h := uint64(14695981039346656037) // FNV-1a, finished by mix
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return k.Int(h).Int(uint64(len(s)))
}

// Sum is the key as 128 bits.
func (k Key) Sum() (hi, lo uint64) { return mix(k.a ^ bits.RotateLeft64(k.b, 32)), mix(k.b ^ k.a) }

// Source returns the stream of this key. It is Sum written out: so it is inlined, and the stream need not be allocated.
func (k Key) Source() *Source {
	return &Source{state: mix(k.a ^ bits.RotateLeft64(k.b, 32)), gamma: mix(k.b^k.a) | 1}
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Source is a SplitMix64 stream. It is not safe for concurrent use: a draw belongs to one step of one agent.
type Source struct{ state, gamma uint64 }

// Uint64 returns the next 64 bits.
func (s *Source) Uint64() uint64 {
	s.state += s.gamma
	return mix(s.state)
}

// Float64 returns a number in [0, 1).
func (s *Source) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// IntN returns a number in [0, n); n must be positive (Lemire's multiplication with rejection).
func (s *Source) IntN(n int) int {
	m := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), m)
	if lo < m {
		for floor := -m % m; lo < floor; {
			hi, lo = bits.Mul64(s.Uint64(), m)
		}
	}
	return int(hi)
}

// Normal returns a number of the standard normal distribution (Box-Muller; each call uses two draws).
func (s *Source) Normal() float64 {
	u := 1 - s.Float64() // never 0
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*s.Float64())
}

// Shuffle permutes n elements through swap (Fisher-Yates).
func (s *Source) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}
