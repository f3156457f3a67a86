package statistics

import (
	"fmt"
	"math"
	"slices"
)

// Dunnett compares points with the baseline by the procedure of Dunnett (1955), "A multiple comparison procedure for comparing several
// treatments with a control": all samples are independent, and one standard deviation is pooled from all of them. Adjusted and Joint hold
// for all points together. It assumes that the points vary equally; AgainstBaseline does not, and suits experiments better.
//
// The multivariate t distribution has the correlations l[i] l[j] with l[i]^2 = n[i] / (n[0] + n[i]); given the baseline's mean and the
// pooled deviation the points are independent, which leaves two integrals (Dunnett 1955; Genz and Bretz 2009, section 2.3).
func Dunnett(baseline []float64, points [][]float64) []Difference {
	samples := [][]float64{present(baseline)}
	squares, freedom := 0.0, 0.0
	for _, p := range points {
		samples = append(samples, present(p))
	}
	for _, s := range samples {
		if _, sd := moments(s); len(s) > 1 {
			squares, freedom = squares+sd*sd*float64(len(s)-1), freedom+float64(len(s)-1)
		}
	}
	pooled := math.Sqrt(squares / freedom)
	known := freedom > 0 && pooled > rounding*scaleOf(samples...)
	all, family := make([]contrast, len(points)), joint{shared: true}
	n0 := float64(len(samples[0]))
	for i, y := range samples[1:] {
		n := float64(len(y))
		c := blank(DunnettT, "")
		c.Baseline, c.Point, c.Missing = len(samples[0]), len(y), len(baseline)-len(samples[0])+len(points[i])-len(y)
		m0, _ := moments(samples[0])
		m, _ := moments(y)
		c.Value = m - m0
		c.interval = func(float64) Interval { return unknown(c.Note) }
		if known && n0 > 0 && n > 0 {
			c.deviation, c.freedom = pooled*math.Sqrt(1/n+1/n0), freedom
			c.P = twoSided(c.Value/c.deviation, freedom)
			c.Effect = Effect{Name: "Hedges' g", Value: hedgesBias(freedom) * c.Value / pooled}
			c.interval = func(err float64) Interval { return around(c.Value, c.deviation, c.freedom, err, DunnettT) }
			family.add(n/(n0+n), freedom)
		} else {
			c.Note = fmt.Sprintf("Dunnett's method needs values of baseline and point that vary; they have %d and %d", c.Baseline, c.Point)
		}
		c.finish()
		all[i] = c
	}
	return family.correct(all)
}

// joint is the distribution of the smallest p-value of several comparisons with one baseline, under the hypothesis that there is no
// difference. Each comparison's statistic is Student's t, from a normal variable and a deviation. The normal variables are correlated
// by one factor. The deviations are one shared variable (Dunnett 1955), or independent.
type joint struct {
	shared bool
	groups []group
}

// group is a number of comparisons with the same distribution.
type group struct {
	load       float64 // squared: share of the variance that comes from the factor
	freedom    float64
	count      int
	deviations []node
}

// add adds a comparison.
func (j *joint) add(load, freedom float64) {
	for i, g := range j.groups {
		if g.load == load && g.freedom == freedom {
			j.groups[i].count++
			return
		}
	}
	j.groups = append(j.groups, group{load, freedom, 1, deviations(freedom)})
}

// correct sets Adjusted and Joint of all comparisons.
func (j *joint) correct(all []contrast) []Difference {
	single := j.level(alpha)
	results := make([]Difference, len(all))
	for i, c := range all {
		if !math.IsNaN(c.P) {
			c.Adjusted = c.P
			if len(j.groups) > 0 && !math.IsNaN(c.deviation) {
				// The exact test of few pairs may have a larger p-value than t; the larger one counts.
				c.Adjusted = math.Max(c.P, j.smallest(twoSided(c.Value/c.deviation, c.freedom)))
				c.Joint = c.jointInterval(single)
			}
		}
		results[i] = c.Difference
	}
	return results
}

// jointInterval is the interval at the level of a single comparison.
func (c *contrast) jointInterval(err float64) Interval {
	i := around(c.Value, c.deviation, c.freedom, err, DunnettT)
	i.Note = c.Interval.Note
	return i
}

// level returns the error of each comparison for which the smallest of all has the given error.
func (j *joint) level(err float64) float64 {
	count := 0
	for _, g := range j.groups {
		count += g.count
	}
	if count <= 1 {
		return err
	}
	excess := func(x float64) float64 { return math.Log(j.smallest(math.Exp(x)) / err) }
	// The logarithms are almost a line between Bonferroni's error and none corrected: false position, with the change of Illinois.
	low, high := math.Log(err/float64(count)), math.Log(err)
	below, above := excess(low), excess(high)
	x := low
	for range 50 {
		if above-below <= 0 {
			break
		}
		x = high - above*(high-low)/(above-below)
		switch e := excess(x); {
		case math.Abs(e) < 1e-10:
			return math.Exp(x)
		case e > 0:
			high, above, below = x, e, below/2
		default:
			low, below, above = x, e, above/2
		}
	}
	return math.Exp(x)
}

// smallest returns the probability that the smallest p-value is at most p.
func (j *joint) smallest(p float64) float64 {
	if len(j.groups) == 1 && j.groups[0].count == 1 || p <= 0 || p >= 1 {
		return math.Min(1, math.Max(0, p))
	}
	if j.shared {
		return j.smallestShared(p)
	}
	miss, load := 0.0, 0.0
	for _, g := range j.groups {
		load = math.Max(load, g.load)
	}
	inner := make([]slice, len(j.groups))
	for i, g := range j.groups {
		inner[i] = newSlice(g, critical(p, g.freedom), g.deviations)
	}
	factor(load, func(y, weight float64) {
		inside := 0.0
		for i, g := range j.groups {
			inside += float64(g.count) * math.Log1p(-inner[i].outside(y))
		}
		miss -= weight * math.Expm1(inside)
	})
	return math.Min(1, math.Max(p, miss))
}

// smallestShared is smallest for one shared deviation.
func (j *joint) smallestShared(p float64) float64 {
	miss, load := 0.0, 0.0
	for _, g := range j.groups {
		load = math.Max(load, g.load)
	}
	freedom := j.groups[0].freedom
	c := critical(p, freedom)
	for _, s := range j.groups[0].deviations {
		inner := make([]slice, len(j.groups))
		for i, g := range j.groups {
			inner[i] = newSlice(g, c, []node{{s.at, 1}})
		}
		factor(load, func(y, weight float64) {
			inside := 0.0
			for i, g := range j.groups {
				inside += float64(g.count) * math.Log1p(-inner[i].outside(y))
			}
			miss -= s.weight * weight * math.Expm1(inside)
		})
	}
	return math.Min(1, math.Max(p, miss))
}

// node is a point of a quadrature.
type node struct{ at, weight float64 }

// deviations returns a quadrature over the estimated deviation, in units of the true one: chi, divided by the root of its degrees of
// freedom. It is the trapezoidal rule over the logarithm, where the density falls off exponentially on both sides.
func deviations(freedom float64) []node {
	if math.IsInf(freedom, 1) {
		return []node{{1, 1}}
	}
	// Bounds of chi squared with a tail of about exp(-26): Laurent and Massart (2000), and the power law near 0.
	const tail = 26
	lg, _ := math.Lgamma(freedom / 2)
	least := 2 * math.Exp((lg+math.Log(freedom/2)-tail)*2/freedom)
	low := 0.5 * math.Log(math.Max(least, freedom-2*math.Sqrt(freedom*tail))/freedom)
	high := 0.5 * math.Log((freedom+2*math.Sqrt(freedom*tail)+2*tail)/freedom)
	step := math.Min(0.2, 0.75/math.Sqrt(2*freedom))
	count := int(math.Ceil((high - low) / step))
	step = (high - low) / float64(count)
	nodes := make([]node, 0, count+1)
	sum := 0.0
	for i := range count + 1 {
		v := low + float64(i)*step
		x := freedom * math.Exp(2*v) // chi squared
		w := 2 * step * math.Exp(freedom/2*math.Log(x/2)-x/2-lg)
		nodes, sum = append(nodes, node{math.Exp(v), w}), sum+w
	}
	for i := range nodes {
		nodes[i].weight /= sum
	}
	return nodes
}

// factor integrates over the common factor, a normal variable. All integrands are even.
func factor(load float64, f func(y, weight float64)) {
	const bound = 7.5
	if load == 0 {
		f(0, 1)
		return
	}
	step := math.Max(0.02, math.Min(0.4, 0.55*math.Sqrt(1-load)))
	for i := range int(bound/step) + 1 {
		y := float64(i) * step
		weight := 2 * step * math.Exp(-y*y/2) / math.Sqrt(2*math.Pi)
		if i == 0 {
			weight /= 2
		}
		f(y, weight)
	}
}

// slice is one comparison, given the factor.
type slice struct {
	load, rest float64 // of the factor, and of the comparison's own part
	limits     []node  // critical value times deviation
}

func newSlice(g group, critical float64, deviations []node) slice {
	s := slice{load: math.Sqrt(g.load), rest: math.Sqrt(math.Max(1-g.load, 1e-6)), limits: slices.Clone(deviations)}
	for i := range s.limits {
		s.limits[i].at *= critical
	}
	return s
}

// outside returns the probability that the statistic exceeds the critical value, given the factor.
func (s *slice) outside(y float64) float64 {
	sum := 0.0
	for _, l := range s.limits {
		if l.at-s.load*y > 9*s.rest {
			break // the limits ascend, and the rest of the sum is below 1e-18
		}
		sum += l.weight * (math.Erfc((l.at-s.load*y)/(s.rest*math.Sqrt2)) + math.Erfc((l.at+s.load*y)/(s.rest*math.Sqrt2))) / 2
	}
	return math.Min(sum, 1-1e-16)
}
