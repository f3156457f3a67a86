package design

import (
	"fmt"
	"math/bits"
)

// MostSobolFactors is the largest number of factors of a Sobol design, which uses two dimensions of the sequence for each.
const MostSobolFactors = len(joeKuo) / 2

// Sobol returns the n(k+2) points for the Sobol indices of k factors (Saltelli et al., Variance based sensitivity analysis of
// model output, Computer Physics Communications 181, 2010). For each j below n these are A_j, B_j, then AB_1j to AB_kj,
// where AB_ij is A_j with the i-th factor of B_j. A and B are the first and the last k dimensions of one Sobol sequence of
// 2k dimensions. n should be a power of 2, over which the sequence is balanced. A larger n adds points and keeps the earlier
// ones. Points may repeat, because the position of a point is part of the design.
//
// No point of the sequence is skipped. Instead, every dimension has a random digital shift from the seed, which moves the
// first point away from the corner and keeps the balance that skipping points destroys (Owen, On dropping the first Sobol'
// point, arXiv 2008.08051, 2020).
func Sobol(factors []Factor, n int, seed uint64) ([]Point, error) {
	k := len(factors)
	if k > MostSobolFactors {
		return nil, &Error{Problem: fmt.Sprintf("the design sobol has %d factors, more than %d", k, MostSobolFactors), Hint: "find the factors that matter with `morris: 10` first"}
	}
	if err := check(float64(n) * float64(k+2)); err != nil {
		return nil, err
	}
	shift := make([]uint32, 2*k)
	for j := range factors {
		s := factors[j].source(seed, "sobol")
		shift[j], shift[k+j] = uint32(s.Uint64()>>32), uint32(s.Uint64()>>32)
	}
	seq := newSequence(2 * k)
	points := make([]Point, 0, n*(k+2))
	for range n {
		x := seq.next()
		a, b := make(Point, k), make(Point, k)
		for j := range factors {
			a[j] = factors[j].at(fraction(x[j] ^ shift[j]))
			b[j] = factors[j].at(fraction(x[k+j] ^ shift[k+j]))
		}
		points = append(points, a, b)
		for j := range factors {
			ab := append(Point(nil), a...)
			ab[j] = b[j]
			points = append(points, ab)
		}
	}
	return points, nil
}

const sobolBits = 32

// fraction returns the number from 0 to below 1 with these binary digits.
func fraction(x uint32) float64 { return float64(x) / (1 << sobolBits) }

// sequence generates the Sobol sequence (Sobol, USSR Computational Mathematics and Mathematical Physics 7, 1967) in the
// order of the Gray code (Antonov and Saleev, 1979), from the origin on.
type sequence struct {
	directions [][sobolBits]uint32 // by dimension
	current    []uint32
	index      uint32
}

// newSequence returns a sequence with at most len(joeKuo) dimensions.
func newSequence(dimensions int) *sequence {
	s := &sequence{directions: make([][sobolBits]uint32, dimensions), current: make([]uint32, dimensions)}
	for d := range s.directions {
		s.directions[d] = joeKuo[d].directions()
	}
	return s
}

// next returns the digits of the next point, by dimension.
func (s *sequence) next() []uint32 {
	point := append([]uint32(nil), s.current...)
	c := bits.TrailingZeros32(^s.index) // the digit that changes
	s.index++
	for d := range s.current {
		s.current[d] ^= s.directions[d][c]
	}
	return point
}

// primitive is a primitive polynomial over GF(2) with the initial direction numbers of a dimension.
type primitive struct {
	degree       int
	coefficients uint32   // the inner ones, as binary digits
	initial      []uint32 // m_1 to m_degree
}

// directions returns the direction numbers v_1 to v_32 by the recurrence of Joe and Kuo.
func (p *primitive) directions() (v [sobolBits]uint32) {
	for i := range sobolBits {
		switch {
		case p.degree == 0: // the first dimension, the van der Corput sequence
			v[i] = 1 << (sobolBits - 1 - i)
		case i < p.degree:
			v[i] = p.initial[i] << (sobolBits - 1 - i)
		default:
			v[i] = v[i-p.degree] ^ v[i-p.degree]>>p.degree
			for k := 1; k < p.degree; k++ {
				if p.coefficients>>(p.degree-1-k)&1 == 1 {
					v[i] ^= v[i-k]
				}
			}
		}
	}
	return v
}

// joeKuo are the first 40 dimensions of new-joe-kuo-6 (Joe and Kuo, Constructing Sobol sequences with better
// two-dimensional projections, SIAM Journal on Scientific Computing 30, 2008).
var joeKuo = [40]primitive{
	{0, 0, nil},
	{1, 0, []uint32{1}},
	{2, 1, []uint32{1, 3}},
	{3, 1, []uint32{1, 3, 1}},
	{3, 2, []uint32{1, 1, 1}},
	{4, 1, []uint32{1, 1, 3, 3}},
	{4, 4, []uint32{1, 3, 5, 13}},
	{5, 2, []uint32{1, 1, 5, 5, 17}},
	{5, 4, []uint32{1, 1, 5, 5, 5}},
	{5, 7, []uint32{1, 1, 7, 11, 19}},
	{5, 11, []uint32{1, 1, 5, 1, 1}},
	{5, 13, []uint32{1, 1, 1, 3, 11}},
	{5, 14, []uint32{1, 3, 5, 5, 31}},
	{6, 1, []uint32{1, 3, 3, 9, 7, 49}},
	{6, 13, []uint32{1, 1, 1, 15, 21, 21}},
	{6, 16, []uint32{1, 3, 1, 13, 27, 49}},
	{6, 19, []uint32{1, 1, 1, 15, 7, 5}},
	{6, 22, []uint32{1, 3, 1, 15, 13, 25}},
	{6, 25, []uint32{1, 1, 5, 5, 19, 61}},
	{7, 1, []uint32{1, 3, 7, 11, 23, 15, 103}},
	{7, 4, []uint32{1, 3, 7, 13, 13, 15, 69}},
	{7, 7, []uint32{1, 1, 3, 13, 7, 35, 63}},
	{7, 8, []uint32{1, 3, 5, 9, 1, 25, 53}},
	{7, 14, []uint32{1, 3, 1, 13, 9, 35, 107}},
	{7, 19, []uint32{1, 3, 1, 5, 27, 61, 31}},
	{7, 21, []uint32{1, 1, 5, 11, 19, 41, 61}},
	{7, 28, []uint32{1, 3, 5, 3, 3, 13, 69}},
	{7, 31, []uint32{1, 1, 7, 13, 1, 19, 1}},
	{7, 32, []uint32{1, 3, 7, 5, 13, 19, 59}},
	{7, 37, []uint32{1, 1, 3, 9, 25, 29, 41}},
	{7, 41, []uint32{1, 3, 5, 13, 23, 1, 55}},
	{7, 42, []uint32{1, 3, 7, 3, 13, 59, 17}},
	{7, 50, []uint32{1, 3, 1, 3, 5, 53, 69}},
	{7, 55, []uint32{1, 1, 5, 5, 23, 33, 13}},
	{7, 56, []uint32{1, 1, 7, 7, 1, 61, 123}},
	{7, 59, []uint32{1, 1, 7, 9, 13, 61, 49}},
	{7, 62, []uint32{1, 3, 3, 5, 3, 55, 33}},
	{8, 14, []uint32{1, 3, 1, 15, 31, 13, 49, 245}},
	{8, 21, []uint32{1, 3, 5, 15, 31, 59, 63, 97}},
	{8, 22, []uint32{1, 3, 1, 11, 11, 11, 77, 249}},
}
