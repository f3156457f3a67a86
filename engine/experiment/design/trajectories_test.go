package design

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestMorrisTrajectories checks that each step of a trajectory changes one factor by Δ, and each factor once.
func TestMorrisTrajectories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factors := someFactors(t)
		p := 2 * rapid.IntRange(1, 5).Draw(t, "half the levels")
		r, k := rapid.IntRange(1, 8).Draw(t, "trajectories"), len(factors)
		points, err := Morris(factors, r, p, rapid.Uint64().Draw(t, "seed"))
		if err != nil || len(points) != r*(k+1) {
			t.Fatalf("got %d points, %v, want %d", len(points), err, r*(k+1))
		}
		for i := range r {
			moved := make([]int, k)
			for step := 1; step <= k; step++ {
				was, now := points[i*(k+1)+step-1], points[i*(k+1)+step]
				changes := 0
				for j := range factors {
					if was[j] == now[j] {
						continue
					}
					changes++
					moved[j]++
					n := factors[j].gridOf(p)
					want := float64(n/2) / float64(n-1)
					if got := math.Abs(was[j].Unit - now[j].Unit); math.Abs(got-want) > 1e-12 {
						t.Fatalf("a step of %v, want %v", got, want)
					}
				}
				if changes != 1 {
					t.Fatalf("step %d of trajectory %d changes %d factors", step, i, changes)
				}
			}
			for j, n := range moved {
				if n != 1 {
					t.Fatalf("trajectory %d changes factor %d %d times", i, j, n)
				}
			}
		}
	})
}

// TestMorrisLevelsAreEquallyLikely checks Morris's reason for an even number of levels.
func TestMorrisLevelsAreEquallyLikely(t *testing.T) {
	points, err := Morris(cube(2), 4000, 4, 9)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for _, p := range points {
		counts[int(math.Round(3*p[0].Unit))]++
	}
	for level := range 4 {
		if n := counts[level]; n < 2800 || n > 3200 { // of 12,000; three standard deviations are about 150
			t.Errorf("level %d: %d of %d points", level, n, len(points))
		}
	}
}

// TestSobolSequence checks the first values that Joe and Kuo publish for their generator with new-joe-kuo-6.21201, in
// three dimensions, and those of five further dimensions.
func TestSobolSequence(t *testing.T) {
	want := [][]float64{
		{0, 0, 0, 0, 0, 0, 0, 0},
		{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
		{0.75, 0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75},
		{0.25, 0.75, 0.75, 0.75, 0.25, 0.25, 0.75, 0.25},
		{0.375, 0.375, 0.625, 0.875, 0.375, 0.125, 0.375, 0.875},
		{0.875, 0.875, 0.125, 0.375, 0.875, 0.625, 0.875, 0.375},
		{0.625, 0.125, 0.875, 0.625, 0.625, 0.875, 0.125, 0.125},
		{0.125, 0.625, 0.375, 0.125, 0.125, 0.375, 0.625, 0.625},
		{0.1875, 0.3125, 0.9375, 0.4375, 0.5625, 0.3125, 0.4375, 0.9375},
		{0.6875, 0.8125, 0.4375, 0.9375, 0.0625, 0.8125, 0.9375, 0.4375},
		{0.9375, 0.0625, 0.6875, 0.1875, 0.3125, 0.5625, 0.1875, 0.1875},
		{0.4375, 0.5625, 0.1875, 0.6875, 0.8125, 0.0625, 0.6875, 0.6875},
	}
	s := newSequence(8)
	for i := range want {
		for d, x := range s.next() {
			if got := fraction(x); got != want[i][d] {
				t.Errorf("point %d, dimension %d: got %v, want %v", i, d+1, got, want[i][d])
			}
		}
	}
}

// TestSobolDimensions checks two properties of every dimension. Over 2^m points, each interval of size 2^-m holds one.
// And the direction numbers have Sobol's property A (1976), which Joe and Kuo's have up to dimension 1,111: of the 2^k
// points in a row in k dimensions, each half-cube holds one. So it finds a wrong number in the table.
func TestSobolDimensions(t *testing.T) {
	const m = 10
	s := newSequence(len(joeKuo))
	hits := make([][1 << m]int, len(joeKuo))
	for range 1 << m {
		for d, x := range s.next() {
			hits[d][x>>(sobolBits-m)]++
		}
	}
	for d := range hits {
		for i, n := range hits[d] {
			if n != 1 {
				t.Fatalf("dimension %d: interval %d has %d points", d+1, i, n)
			}
		}
	}
	k := len(joeKuo)
	rows := make([]uint64, k) // bit i of row d is the first digit of direction number i+1
	for d := range rows {
		for i, v := range joeKuo[d].directionsTo(k) {
			rows[d] |= uint64(v) << i
		}
	}
	if r := rank(rows); r != k {
		t.Errorf("the first digits of %d dimensions have the rank %d", k, r)
	}
}

// directionsTo returns the first binary digit of each of the direction numbers v_1 to v_n, for n up to 64.
func (p *primitive) directionsTo(n int) []uint8 {
	v := make([]uint64, n)
	for i := range v {
		switch {
		case p.degree == 0:
			v[i] = 1 << (63 - i)
		case i < p.degree:
			v[i] = uint64(p.initial[i]) << (63 - i)
		default:
			v[i] = v[i-p.degree] ^ v[i-p.degree]>>p.degree
			for k := 1; k < p.degree; k++ {
				if p.coefficients>>(p.degree-1-k)&1 == 1 {
					v[i] ^= v[i-k]
				}
			}
		}
	}
	first := make([]uint8, n)
	for i := range v {
		first[i] = uint8(v[i] >> 63)
	}
	return first
}

// rank returns the rank of a binary matrix.
func rank(rows []uint64) (r int) {
	for bit := range 64 {
		for i := r; i < len(rows); i++ {
			if rows[i]>>bit&1 == 0 {
				continue
			}
			rows[r], rows[i] = rows[i], rows[r]
			for k := range rows {
				if k != r && rows[k]>>bit&1 == 1 {
					rows[k] ^= rows[r]
				}
			}
			r++
			break
		}
	}
	return r
}

// TestSobolBlocks checks Saltelli's order: A, B, and A with each factor of B.
func TestSobolBlocks(t *testing.T) {
	const n, k = 16, 3
	points, err := Sobol(cube(k), n, 5)
	if err != nil || len(points) != n*(k+2) {
		t.Fatalf("got %d points, %v, want %d", len(points), err, n*(k+2))
	}
	for i := 0; i < len(points); i += k + 2 {
		a, b := points[i], points[i+1]
		for f := range k {
			for j, c := range points[i+2+f] {
				want := a[j]
				if j == f {
					want = b[j]
				}
				if c != want {
					t.Fatalf("block %d, AB of factor %d: got %v at %d, want %v", i/(k+2), f, c, j, want)
				}
			}
		}
	}
}

// TestSobolShiftKeepsTheBalance checks that the shifted points fill every interval, too.
func TestSobolShiftKeepsTheBalance(t *testing.T) {
	for seed := range uint64(10) {
		points, _ := Sobol(cube(2), 64, seed)
		hits := map[int]int{}
		for i := 0; i < len(points); i += 4 {
			hits[int(64*points[i][1].Unit)]++
		}
		if len(hits) != 64 {
			t.Errorf("seed %d: %d of 64 intervals hold a point", seed, len(hits))
		}
	}
}
