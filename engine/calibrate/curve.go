package calibrate

import (
	"math"
	"slices"
	"sort"
)

// Curve is the Universal Scalability Law: n concurrent sessions have a throughput of X(n) = λn / (1 + σ(n−1) + κn(n−1)) per second. λ is
// the throughput of one session, σ the share of serial work (contention), κ the cost of each session to every other (coherency). From N.
// J. Gunther, Guerrilla Capacity Planning, Springer 2007, chapter 4, with the coefficient λ of
// Gunther, Puglia and Tomasette, Hadoop Superlinear Scalability, CACM 58(4), 2015.
type Curve struct {
	Lambda float64 `json:"lambda"`
	Sigma  float64 `json:"sigma"`
	Kappa  float64 `json:"kappa"`
}

// At returns X(n).
func (c Curve) At(n float64) float64 { return c.Lambda * n / c.divisor(n) }

func (c Curve) divisor(n float64) float64 { return 1 + c.Sigma*(n-1) + c.Kappa*n*(n-1) }

// Peak returns the n with the highest X(n), or infinity if X only grows.
func (c Curve) Peak() float64 {
	if c.Kappa <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(1-c.Sigma, 0) / c.Kappa)
}

// Best returns the smallest number of sessions in a range with at least a given share of the highest throughput in that range.
func (c Curve) Best(lowest, highest int, share float64) int {
	if highest <= lowest {
		return lowest
	}
	// X grows up to its peak and falls from there, so it ascends up to the best whole number near the peak.
	top := min(max(int(min(c.Peak(), float64(highest))), lowest), highest)
	if top < highest && c.At(float64(top+1)) > c.At(float64(top)) {
		top++
	}
	want := share * c.At(float64(top))
	return lowest + sort.Search(top-lowest, func(i int) bool { return c.At(float64(lowest+i)) >= want })
}

// point is a measurement: the throughput x with n concurrent sessions. Its error is relative to scale, which fit sets to the median of
// the level, so that a disturbed measurement that is far too low has the weight of any other.
type point struct{ n, x, scale float64 }

// scaled returns points with their scales.
func scaled(points []point) []point {
	levels := map[float64][]float64{}
	for _, p := range points {
		levels[p.n] = append(levels[p.n], p.x)
	}
	for _, all := range levels {
		slices.Sort(all)
	}
	scaled := make([]point, len(points))
	for i, p := range points {
		all := levels[p.n]
		scaled[i] = point{p.n, p.x, (all[(len(all)-1)/2] + all[len(all)/2]) / 2}
	}
	return scaled
}

// distinct counts levels.
func distinct(points []point) int {
	seen := map[float64]bool{}
	for _, p := range points {
		seen[p.n] = true
	}
	return len(seen)
}

// fit returns the curve with the least sum of squared errors relative to their level, with λ > 0 and σ, κ ≥ 0: throughputs differ by
// decades, and so do their errors. It enforces the bounds by trying all sides: the best curve is the best unbounded one on its side. ok
// is false with fewer than two levels. free is the number of fitted parameters.
func fit(points []point) (best Curve, free int, ok bool) {
	levels := distinct(points)
	if levels < 2 {
		return Curve{}, 0, false
	}
	points = scaled(points)
	least := math.Inf(1)
	for _, side := range []side{{false, false}, {true, false}, {false, true}, {true, true}} {
		if side.parameters() > levels {
			continue
		}
		c, cost := side.fit(points)
		if c.Sigma < 0 || c.Kappa < 0 || !(cost < least*(1-1e-9)) {
			continue
		}
		best, least, free, ok = c, cost, side.parameters(), true
	}
	return best, free, ok
}

// side tells which parameters other than λ are not 0.
type side struct{ sigma, kappa bool }

func (s side) parameters() int {
	n := 1
	if s.sigma {
		n++
	}
	if s.kappa {
		n++
	}
	return n
}

// fit fits the curve of the side by the method of D. W. Marquardt, An Algorithm for Least-Squares Estimation of
// Nonlinear Parameters, J. SIAM 11(2), 1963, from the solution of the law's linear form n/X(n).
func (s side) fit(points []point) (Curve, float64) {
	c := s.begin(points)
	cost := s.cost(points, c)
	for damping, steps := 1e-3, 0; steps < 200 && damping < 1e12; steps++ {
		next, solved := s.step(points, c, damping)
		lower := math.Inf(1)
		if solved {
			lower = s.cost(points, next)
		}
		if !(lower < cost) {
			damping *= 8
			continue
		}
		settled := cost-lower <= 1e-12*cost
		c, cost = next, lower
		if settled {
			break
		}
		damping /= 4
	}
	return c, cost
}

// cost returns the sum of the squared relative errors, or infinity for an invalid curve.
func (s side) cost(points []point, c Curve) float64 {
	if !(c.Lambda > 0) {
		return math.Inf(1)
	}
	sum := 0.0
	for _, p := range points {
		if !(c.divisor(p.n) > 0) {
			return math.Inf(1)
		}
		e := (c.At(p.n) - p.x) / p.scale
		sum += e * e
	}
	return sum
}

// begin solves the linear form: n/X = (1 + σ(n−1) + κn(n−1)) / λ.
func (s side) begin(points []point) Curve {
	var q normal
	for _, p := range points {
		y := p.n / p.scale
		q.add(s.pick(1/y, (p.n-1)/y, p.n*(p.n-1)/y), 1)
	}
	a, solved := q.solve(s.parameters(), 0)
	c := Curve{}
	if solved && a[0] > 0 {
		c = s.put(1/a[0], a[1]/a[0], a[2]/a[0])
	}
	if !(s.cost(points, c) < math.Inf(1)) {
		c = s.put(points[0].scale/points[0].n, 0.05, 1e-6)
	}
	return c
}

// step moves towards the minimum. More damping makes the step shorter.
func (s side) step(points []point, c Curve, damping float64) (Curve, bool) {
	var q normal
	for _, p := range points {
		d := c.divisor(p.n)
		slope := -c.Lambda * p.n * (p.n - 1) / (d * d)
		q.add(s.pick(p.n/d/p.scale, slope/p.scale, slope*p.n/p.scale), (p.x-c.At(p.n))/p.scale)
	}
	a, solved := q.solve(s.parameters(), damping)
	step := s.put(a[0], a[1], a[2])
	return Curve{c.Lambda + step.Lambda, c.Sigma + step.Sigma, c.Kappa + step.Kappa}, solved
}

// pick returns the parameters of the side, followed by zeros.
func (s side) pick(lambda, sigma, kappa float64) [3]float64 {
	switch {
	case s.sigma:
		return [3]float64{lambda, sigma, kappa}
	case s.kappa:
		return [3]float64{lambda, kappa}
	}
	return [3]float64{lambda}
}

// put undoes pick.
func (s side) put(a, b, c float64) Curve {
	switch {
	case s.sigma && s.kappa:
		return Curve{a, b, c}
	case s.sigma:
		return Curve{a, b, 0}
	case s.kappa:
		return Curve{a, 0, b}
	}
	return Curve{Lambda: a}
}

// normal are the normal equations of a least-squares problem.
type normal struct {
	matrix [3][3]float64
	right  [3]float64
}

func (q *normal) add(row [3]float64, value float64) {
	for i, a := range row {
		for j, b := range row {
			q.matrix[i][j] += a * b
		}
		q.right[i] += a * value
	}
}

// solve returns the solution in n unknowns, with the diagonal raised by a fraction; false if there is no solution.
func (q normal) solve(n int, damping float64) (x [3]float64, ok bool) {
	m, y := q.matrix, q.right
	for i := range n {
		m[i][i] *= 1 + damping
	}
	for i := range n { // Gaussian elimination with partial pivoting
		pivot := i
		for k := i + 1; k < n; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[pivot][i]) {
				pivot = k
			}
		}
		m[i], m[pivot], y[i], y[pivot] = m[pivot], m[i], y[pivot], y[i]
		if !(math.Abs(m[i][i]) > 1e-300) {
			return x, false
		}
		for k := i + 1; k < n; k++ {
			f := m[k][i] / m[i][i]
			for j := i; j < n; j++ {
				m[k][j] -= f * m[i][j]
			}
			y[k] -= f * y[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = y[i]
		for j := i + 1; j < n; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x, true
}
