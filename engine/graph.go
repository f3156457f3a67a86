package engine

// MostDrawn is how many steps a Graph holds at most.
const MostDrawn = 1000

// Graph is a chain, or a block inside it, as people see it: its segments one after another. The steps of a segment run
// beside each other, but for what they wait for.
type Graph struct {
	Name     string // of the chain; of a block then, else or do
	Segments [][]GraphStep
	Cut      bool // of a chain: steps are left out, as there are more than MostDrawn
}

// GraphStep is a step of a Graph.
type GraphStep struct {
	Path              string // names from the chain down, without iterations
	Name, Label, Kind string
	Service           string      // that it asks; "" is none
	Says              string      // what control flow goes by: a condition, what it repeats for, the other chain
	Facts             []GraphFact // what else there is to know
	After             []int       // indexes of those of its segment that it waits for
	Inner             []Graph     // the blocks of control flow, or the chain that it runs
}

// GraphFact is a word with what a file says about it, such as timeout, 2m0s.
type GraphFact struct{ Word, Text string }

// Walk calls f for every step, outer ones first, in the order of the file.
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
