package design

import "fmt"

// Grid returns all combinations of levels. The first factor changes slowest, the last one fastest.
func Grid(factors []Factor) ([]Point, error) {
	if err := listed(factors, "grid"); err != nil {
		return nil, err
	}
	n := 1.0
	for i := range factors {
		n *= float64(factors[i].Levels)
	}
	if err := check(n); err != nil {
		return nil, err
	}
	points := make([]Point, int(n))
	for i := range points {
		p, rest := make(Point, len(factors)), i
		for j := len(factors) - 1; j >= 0; j-- {
			p[j] = factors[j].level(rest % factors[j].Levels)
			rest /= factors[j].Levels
		}
		points[i] = p
	}
	return points, nil
}

// Zip returns the first levels of all factors, then the second ones, and so on. A factor with one level keeps it.
func Zip(factors []Factor) ([]Point, error) {
	if err := listed(factors, "zip"); err != nil {
		return nil, err
	}
	n, longest := 1, 0
	for i := range factors {
		switch levels := factors[i].Levels; {
		case levels == 1 || levels == n:
		case n > 1:
			return nil, &Error{factors[i].Name, fmt.Sprintf("has %d levels, and %s has %d", levels, factors[longest].Name, n), "with `design: zip`, all factors have as many levels, or one"}
		default:
			n, longest = levels, i
		}
	}
	if err := check(float64(n)); err != nil {
		return nil, err
	}
	points := make([]Point, n)
	for i := range points {
		points[i] = make(Point, len(factors))
		for j := range factors {
			points[i][j] = factors[j].level(min(i, factors[j].Levels-1))
		}
	}
	return points, nil
}

// OneAtATime returns the baseline, then, factor by factor, the baseline with one other level of that factor. A range
// has the two levels From and To. The baseline has a coordinate for each factor.
func OneAtATime(factors []Factor, baseline Point) ([]Point, error) {
	if len(baseline) != len(factors) {
		return nil, &Error{Problem: "the design one-at-a-time needs a baseline value for every factor"}
	}
	n := 1.0
	for i := range factors {
		n += float64(max(factors[i].Levels, 2))
	}
	if err := check(n); err != nil {
		return nil, err
	}
	points := []Point{append(Point(nil), baseline...)}
	for i := range factors {
		f := &factors[i]
		others := []Coordinate{f.at(0), f.at(1)}
		if f.Levels > 0 {
			others = others[:0]
			for level := range f.Levels {
				others = append(others, f.level(level))
			}
		}
		for _, c := range others {
			p := append(Point(nil), baseline...)
			p[i] = c
			points = append(points, p)
		}
	}
	return distinct(points, len(points)), nil
}
