package statistics

import "math"

// Wilson returns the 95% score interval of a share (Wilson, Probable inference, JASA 22, 1927); NaN of nothing.
func Wilson(count, of int) (low, high float64) {
	return WilsonOf(float64(count)/float64(of), float64(of))
}

// WilsonOf is Wilson for a share p of n, which may be an effective sample size.
func WilsonOf(p, n float64) (low, high float64) {
	const z = 1.959963984540054
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max((middle-half)/(1+z*z/n), 0), min((middle+half)/(1+z*z/n), 1)
}
