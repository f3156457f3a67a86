package chain

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain/layout"

	"github.com/throng-sim/throng/engine/internal/bitset"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
)

// controlFlow are the kinds that are always plain steps.
var controlFlow = []string{"if", "for", "while", "stop"}

// maxCycleShown is how many steps of a dependency cycle are shown.
const maxCycleShown = 12

// listed joins the steps of a cycle for an error text, shortened if there are many.
func listed(says []string) string {
	if len(says) > maxCycleShown {
		says = append(slices.Clone(says[:maxCycleShown]), "and so on")
	}
	return strings.Join(says, ", ")
}

// ordering finds the segments of a block and the dependencies within groups.
type ordering struct {
	*reader
	block *Block
	list  []layout.Step // positions in the block
	where map[[2]int]*doc.Node
	seen  []visited
	path  []int // the current path of steps
}

// visited is the state of a step in the search for dependency cycles.
type visited uint8

const (
	unvisited visited = iota
	underWay
	done
)

// order reads parallel and depends_on of the steps of a block.
func (r *reader) order(b *Block, list []layout.Step) {
	o := &ordering{reader: r, block: b, list: list, where: map[[2]int]*doc.Node{}, seen: make([]visited, len(list))}
	for i, at := range list {
		if at.Grouped(controlFlow) {
			b.Steps[i].node = &node{}
		}
	}
	for from := 0; from < len(list); {
		to := from + 1
		if b.Steps[from].node != nil {
			for to < len(list) && b.Steps[to].node != nil {
				to++
			}
		}
		b.segments = append(b.segments, segment{from: from, to: to})
		for i := from; i < to; i++ {
			b.Steps[i].segment = len(b.segments) - 1
		}
		o.group(&b.segments[len(b.segments)-1])
		from = to
	}
}

// group orders the steps of a segment.
func (o *ordering) group(seg *segment) {
	steps := o.block.Steps[seg.from:seg.to]
	if steps[0].node == nil {
		return
	}
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name
		o.dependencies(seg, seg.from+i)
	}
	if len(steps) > 1 {
		seg.shape = value.NewShape(names...)
	}
	for i := seg.from; i < seg.to; i++ {
		if o.seen[i] == unvisited {
			o.visit(seg, i)
		}
	}
	seg.inOrder = slices.IsSorted(seg.order)
	for i, s := range steps {
		for j, other := range steps[:i] {
			if s.node.parallelTo && other.node.parallelTo {
				continue
			}
			if !s.node.before.Has(j) && !other.node.before.Has(i) {
				s.node.parallelTo, other.node.parallelTo = true, true
			}
		}
	}
}

// dependencies reads the dependencies of a step.
func (o *ordering) dependencies(seg *segment, i int) {
	after := o.list[i].Body.Get("depends_on")
	items := []*doc.Node{after}
	if after.Kind() != doc.Scalar {
		items = after.List()
	}
	n := o.block.Steps[i].node
	for _, at := range items {
		o.dependency(seg, i, at)
	}
	if len(n.named) > 1 {
		names := make([]string, len(n.named))
		for k, j := range n.named {
			names[k] = o.block.Steps[j].Name
		}
		n.shape = value.NewShape(names...)
	}
}

// dependency reads one dependency.
func (o *ordering) dependency(seg *segment, i int, at *doc.Node) {
	name, s := at.Text(), o.block.Steps[i]
	j, known := o.block.index[name]
	switch {
	case name == "": // reported
	case !known:
		at.Guess(o.guess(name)).Errorf("there is no step %s in this block", name)
	case j == i:
		at.Errorf("remove it", "the step %s waits for itself", name)
	case slices.Contains(s.node.named, j):
		at.Errorf("name it once", "the step %s is named twice", name)
	case j >= seg.to:
		o.implied(seg, i, j, at)
	default:
		s.node.named = append(s.node.named, j)
		if j >= seg.from {
			s.node.waits = append(s.node.waits, j)
			o.where[[2]int{i, j}] = at
		}
	}
}

// guess returns the guess for a name that is not a step of the block.
func (o *ordering) guess(name string) suggest.Guess {
	if in, ok := o.chain.Place[name]; ok {
		if _, sibling := o.block.index[in]; sibling {
			return suggest.Guess{Hint: "it is inside " + in + ": name that, or leave it out"}
		}
		return suggest.Guess{Hint: "it stands in another block; a step can wait for steps of its own block only"}
	}
	return o.Near(name, o.block.names(), "name steps of the same block")
}

// implied reports a dependency on a step outside the group: there is a plain step between them, or it is one.
func (o *ordering) implied(seg *segment, i, j int, at *doc.Node) {
	name := func(k int) string { return o.block.Steps[k].Name }
	plain := name(seg.to)
	cycle := []string{name(i) + " waits for " + name(j)}
	if j > seg.to {
		cycle = append(cycle, name(j)+" waits for "+plain+" (implied)")
	}
	cycle = append(cycle, plain+" waits for "+name(i)+" (implied)")
	at.Errorf("`"+plain+"` has neither `parallel` nor `depends_on`: it waits for all steps above it, and all steps below wait for it",
		"a dependency cycle: %s", strings.Join(cycle, ", "))
}

// visit orders a step after its dependencies. An edge that closes a cycle is reported and dropped.
func (o *ordering) visit(seg *segment, i int) {
	o.seen[i] = underWay
	o.path = append(o.path, i)
	n := o.block.Steps[i].node
	n.before = bitset.New(seg.to - seg.from)
	waits := n.waits[:0]
	for _, j := range n.waits {
		if o.seen[j] == underWay {
			o.reportCycle(j)
			continue
		}
		if o.seen[j] == unvisited {
			o.visit(seg, j)
		}
		other := o.block.Steps[j].node
		waits, other.next = append(waits, j), append(other.next, i)
		n.before.Add(j - seg.from)
		n.before.AddAll(other.before)
	}
	n.waits = waits
	o.path = o.path[:len(o.path)-1]
	o.seen[i] = done
	seg.order = append(seg.order, i)
}

// reportCycle reports that the last step of the path depends on a step of the path, starting with the first in the file.
func (o *ordering) reportCycle(j int) {
	cycle := slices.Clone(o.path[slices.Index(o.path, j):])
	first := slices.Index(cycle, slices.Min(cycle))
	cycle = append(cycle[first:], cycle[:first]...)
	var says []string
	for k, i := range cycle {
		says = append(says, o.block.Steps[i].Name+" waits for "+o.block.Steps[cycle[(k+1)%len(cycle)]].Name)
	}
	at := o.where[[2]int{cycle[0], cycle[1%len(cycle)]}]
	at.Errorf("remove one of these dependencies", "a dependency cycle: %s", listed(says))
}
