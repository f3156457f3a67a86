package design

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// most tries for a point that differs from all earlier ones, per point.
const mostTries = 64

// below1 is the largest place below 1.
var below1 = math.Nextafter(1, 0)

// Random returns n points that are drawn independently and uniformly, without repetitions. It returns fewer points if the
// factors do not have as many. A larger n adds points and keeps the earlier ones.
func Random(factors []Factor, n int, seed uint64) ([]Point, error) {
	if err := check(float64(n)); err != nil {
		return nil, err
	}
	sources := make([]*draw.Source, len(factors))
	for j := range factors {
		sources[j] = factors[j].source(seed, "random")
	}
	var points []Point
	for size := n; ; size *= 2 {
		for i := len(points); i < size; i++ {
			p := make(Point, len(factors))
			for j := range factors {
				p[j] = factors[j].at(sources[j].Float64())
			}
			points = append(points, p)
		}
		if kept := distinct(append([]Point(nil), points...), n); len(kept) == n || size >= n*mostTries {
			return kept, nil
		}
	}
}

// LatinHypercube returns n points. Each factor's space is divided into n parts of equal size, and each part holds one
// point (McKay, Beckman and Conover, Technometrics 21, 1979). A list of levels is divided in the same way, so its levels
// are used equally often, but points can repeat. The points of another n are different ones.
func LatinHypercube(factors []Factor, n int, seed uint64) ([]Point, error) {
	if err := check(float64(n)); err != nil {
		return nil, err
	}
	points := make([]Point, n)
	for i := range points {
		points[i] = make(Point, len(factors))
	}
	if n == 0 {
		return points, nil
	}
	for j := range factors {
		src := factors[j].source(seed, "lhs")
		column := mat.NewDense(n, 1, nil)
		samplemv.LatinHypercube{Q: distmv.NewUnitUniform(1, src), Src: src}.Sample(column)
		for i := range points {
			points[i][j] = factors[j].at(min(column.At(i, 0), below1))
		}
	}
	return points, nil
}

// Halton returns the first n different points of a randomized Halton sequence (Owen, arXiv 1706.02808, 2017). It covers
// the space more evenly than Random. It returns fewer points if the factors do not have as many. A larger n adds points
// and keeps the earlier ones. A factor has the prime number of its position as base, so the order of factors matters.
func Halton(factors []Factor, n int, seed uint64) ([]Point, error) {
	if err := check(float64(n)); err != nil {
		return nil, err
	}
	if n == 0 || len(factors) == 0 {
		return []Point{}, nil
	}
	for size := n; ; size *= 2 {
		src := draw.Key{}.Int(seed).Text("halton").Source()
		batch := mat.NewDense(size, len(factors), nil)
		samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(factors), src), Src: src}.Sample(batch)
		points := make([]Point, size)
		for i := range points {
			points[i] = make(Point, len(factors))
			for j := range factors {
				points[i][j] = factors[j].at(min(batch.At(i, j), below1))
			}
		}
		if kept := distinct(points, n); len(kept) == n || size >= n*mostTries {
			return kept, nil
		}
	}
}
