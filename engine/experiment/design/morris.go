package design

import "github.com/throng-sim/throng/engine/internal/draw"

// MorrisLevels is the number of levels of a range in Morris designs, as Morris recommends.
const MorrisLevels = 4

// Morris returns r trajectories of k+1 points for k factors (Morris, Factorial Sampling Plans for Preliminary Computational
// Experiments, Technometrics 33, 1991), trajectory by trajectory. The first point of a trajectory is its base; every further
// one differs from the point before it in one factor, in an order drawn for each trajectory. A range has the given number
// of levels p, spread evenly from 0 to 1, and a list its own. A step moves a factor by p/2 levels, rounded down, which is
// Morris's Δ = p/(2(p-1)) for an even p. All levels are then equally likely. Points may repeat, because the position of a
// point in its trajectory is part of the design.
func Morris(factors []Factor, r, p int, seed uint64) ([]Point, error) {
	if p < 2 {
		return nil, &Error{Problem: "a Morris design needs at least 2 levels"}
	}
	for i := range factors {
		if factors[i].Levels == 1 {
			return nil, &Error{factors[i].Name, "has one level only, and the design morris changes every factor", "add a level, or set the value outside of `vary`"}
		}
	}
	if err := check(float64(r) * float64(len(factors)+1)); err != nil {
		return nil, err
	}
	points := make([]Point, 0, r*(len(factors)+1))
	for t := range r {
		key := draw.Key{}.Int(seed).Text("morris").Int(uint64(t))
		points = append(points, trajectory(factors, p, key)...)
	}
	return points, nil
}

// trajectory returns the points of one trajectory.
func trajectory(factors []Factor, p int, key draw.Key) []Point {
	levels, steps := make([]int, len(factors)), make([]int, len(factors))
	for j := range factors {
		n := factors[j].gridOf(p)
		s := key.Text(factors[j].Name).Source()
		levels[j], steps[j] = s.IntN(n), n/2
		up, down := levels[j]+steps[j] < n, levels[j]-steps[j] >= 0
		if !up || down && s.Float64() < 0.5 { // with an even n, one direction is possible
			steps[j] = -steps[j]
		}
	}
	order := make([]int, len(factors))
	for j := range order {
		order[j] = j
	}
	key.Text("order").Source().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	current := make(Point, len(factors))
	for j := range factors {
		current[j] = factors[j].onGrid(levels[j], p)
	}
	points := []Point{append(Point(nil), current...)}
	for _, j := range order {
		current[j] = factors[j].onGrid(levels[j]+steps[j], p)
		points = append(points, append(Point(nil), current...))
	}
	return points
}

// gridOf returns the number of levels of a factor in a Morris design with p levels.
func (f *Factor) gridOf(p int) int {
	if f.Levels > 0 {
		return f.Levels
	}
	return p
}

// onGrid returns a coordinate in a Morris design with p levels.
func (f *Factor) onGrid(level, p int) Coordinate {
	if f.Levels > 0 {
		return f.level(level)
	}
	return f.at(float64(level) / float64(p-1))
}
