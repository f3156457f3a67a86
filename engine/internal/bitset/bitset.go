// Package bitset implements sets of small numbers.
package bitset

// Set is a set of numbers below the size that it was created with.
type Set []uint64

// New returns an empty set of numbers below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Has reports whether i is in the set. It may be any number.
func (s Set) Has(i int) bool { return i >= 0 && i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// Add adds a number.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// AddAll adds the numbers of another set of the same size.
func (s Set) AddAll(other Set) {
	for i, word := range other {
		s[i] |= word
	}
}
