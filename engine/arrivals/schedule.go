package arrivals

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Schedule holds the intended starts of the sessions of a cycle. It does not change, and it is safe for concurrent use. Its fields
// are exported for other processes.
type Schedule struct {
	Plan   *Plan
	Seed   uint64
	Cycle  int
	Agents int           // of the cycle
	Each   time.Duration // planned time of a cycle; used only if the plan needs it
	Order  []int32       // agents whose sessions are still to start, by their intended start
	// Ranks are the positions of Order among all agents of the cycle; nil if they are 0, 1, 2, …
	Ranks []int32
	// Reached is the latest intended start of the sessions that ended in an earlier process. The schedule continues there.
	Reached time.Duration
}

// New returns the schedule of a cycle. It sorts todo, the agents whose sessions are still to start, by their intended start. The
// sessions of the agents in done have ended.
func (p *Plan) New(seed uint64, cycle int, todo []int32, done []int, each time.Duration) *Schedule {
	s := &Schedule{Plan: p, Seed: seed, Cycle: cycle, Agents: len(todo) + len(done), Each: each, Order: todo}
	keys := s.sort(todo)
	if len(done) == 0 {
		return s
	}
	before := make([]int32, len(done))
	for i, agent := range done {
		before[i] = int32(agent)
	}
	ended := s.sort(before)
	s.Ranks = make([]int32, len(todo))
	for i, j := 0, 0; i < len(todo); i++ { // merge the two
		for j < len(before) && compare(ended[j], keys[i]) < 0 {
			j++
		}
		s.Ranks[i] = int32(i + j)
	}
	last := ended[len(ended)-1]
	rank, _ := slices.BinarySearchFunc(keys, last, compare)
	s.Reached = s.start(last.agent, rank+len(ended)-1)
	return s
}

// At returns the intended start of the i-th session of Order, counted from the start of the cycle. It never decreases.
func (s *Schedule) At(i int) time.Duration {
	rank := i
	if s.Ranks != nil {
		rank = int(s.Ranks[i])
	}
	return s.start(s.Order[i], rank)
}

// start returns the intended start of an agent with a rank.
func (s *Schedule) start(agent int32, rank int) time.Duration {
	n := float64(s.Agents)
	if !s.Plan.Poisson {
		return s.Plan.at(float64(rank), n, s.Each)
	}
	// Given their number, the arrivals of a Poisson process are independent and uniform over the expected number so far (Kingman,
	// Poisson Processes, 1993).
	return s.Plan.at(float64(s.draw(agent))/(1<<53)*n, n, s.Each)
}

// draw returns the draw of an agent, below 2^53.
func (s *Schedule) draw(agent int32) uint64 {
	return draw.Key{}.Int(s.Seed).Text("arrivals").Int(uint64(s.Cycle)).Int(uint64(agent)).Source().Uint64() >> 11
}

// Due returns how many sessions have an intended start at or before a time, if at least from do.
func (s *Schedule) Due(from int, at time.Duration) int {
	for from < len(s.Order) && s.At(from) <= at {
		from++
	}
	return from
}

// Last returns the last intended start.
func (s *Schedule) Last() time.Duration {
	if len(s.Order) == 0 {
		return s.Reached
	}
	return s.At(len(s.Order) - 1)
}

// keyed is an agent with its draw.
type keyed struct {
	draw  uint64
	agent int32
}

func compare(a, b keyed) int {
	return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.agent, b.agent))
}

// sort sorts agents by their draws, and returns both. Draws are uniform, so a distribution into buckets of a few agents leaves little
// to sort.
func (s *Schedule) sort(agents []int32) []keyed {
	all, sorted := make([]keyed, len(agents)), make([]keyed, len(agents))
	buckets := 1 << max(int(math.Log2(float64(len(agents)+1)))-3, 0)
	ends := make([]int32, buckets+1)
	bucket := func(k keyed) int { return int(k.draw >> 11 * uint64(buckets) >> 42) }
	for i, agent := range agents {
		all[i] = keyed{s.draw(agent), agent}
		ends[bucket(all[i])+1]++
	}
	for i := range buckets {
		ends[i+1] += ends[i]
	}
	next := slices.Clone(ends)
	for _, k := range all {
		b := bucket(k)
		sorted[next[b]] = k
		next[b]++
	}
	for i := range buckets {
		slices.SortFunc(sorted[ends[i]:ends[i+1]], compare)
	}
	for i := range sorted {
		agents[i] = sorted[i].agent
	}
	return sorted
}
