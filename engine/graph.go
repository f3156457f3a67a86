package engine

// MostDrawn is the maximum number of steps in a Graph.
const MostDrawn = 1000

// Graph is a chain, or a block inside one, for display. Its segments run one after another. The steps of a segment run
// in parallel, except where one waits for another.
type Graph struct {
	Name     string // of the chain; of a block: then, else or do
	Segments [][]GraphStep
	Cut      bool // of a chain: steps are omitted because there are more than MostDrawn
}

// GraphStep is a step of a Graph.
type GraphStep struct {
	Path              string // names from the chain down, without iterations
	Name, Label, Kind string
	Service           string      // that the step calls; "" if none
	Endpoint          string      // method and path of its request, such as GET /products/{}; "" if it sends none
	Controls          string      // what controls it: a condition, the list of a loop, or the other chain
	Facts             []GraphFact // further facts
	After             []int       // indexes of the steps in the segment that it waits for
	Inner             []Graph     // the blocks of control flow, or the chain that the step runs
}

// GraphFact is a property with its value in the file, such as timeout, 2m0s.
type GraphFact struct{ Word, Text string }

// Walk calls f for every step, outer steps first, in file order.
func (g *Graph) Walk(f func(s *GraphStep)) {
	for _, segment := range g.Segments {
		for i := range segment {
			f(&segment[i])
			for k := range segment[i].Inner {
				segment[i].Inner[k].Walk(f)
			}
		}
	}
}

// Parallel returns the most steps that may run at the same time; 0 if steps are omitted.
func (g Graph) Parallel() (most int) {
	if g.Cut {
		return 0
	}
	for _, segment := range g.Segments {
		sum := 0
		for i := range segment {
			inside := 1
			for k := range segment[i].Inner {
				inside = max(inside, segment[i].Inner[k].Parallel())
			}
			sum += inside
		}
		most = max(most, sum)
	}
	return most
}
