package doc

import "slices"

// Difference is a place at which two documents differ.
type Difference struct {
	Path []string // the keys down to it, as written; items of lists are "item 1" and so on
	Line int      // in the second document; 0 if it was removed
}

// Differ compares the content of two documents. It ignores comments, layout, redundant quotes and the order of keys, but
// not the order of blocks such as "step browse". It skips the paths for which skip returns true. Either may be nil.
func Differ(was, now *Node, skip func(path []string) bool) []Difference {
	d := differ{skip: skip}
	d.node(nil, was, now)
	return d.found
}

type differ struct {
	skip  func(path []string) bool
	found []Difference
}

func (d *differ) add(path []string, now *Node) {
	line, _ := now.Position()
	d.found = append(d.found, Difference{slices.Clone(path), line})
}

func (d *differ) node(path []string, was, now *Node) {
	switch {
	case len(path) > 0 && d.skip(path):
	case was.Kind() != now.Kind():
		d.add(path, now)
	case was.Kind() == Scalar:
		if was.value != now.value || was.typed != now.typed {
			d.add(path, now)
		}
	case was.Kind() == List:
		d.list(path, was, now)
	case was.Kind() == Map:
		d.entries(path, was, now)
	}
}

func (d *differ) list(path []string, was, now *Node) {
	if len(was.items) != len(now.items) {
		d.add(path, now)
		return
	}
	for i := range was.items {
		d.node(append(path, now.items[i].label()), was.items[i], now.items[i])
	}
}

func (d *differ) entries(path []string, was, now *Node) {
	for _, e := range was.entries {
		if name := e.Key.value; now.Get(name) == nil && !d.skip(append(path, name)) {
			d.add(append(path, name), nil)
		}
	}
	var before, after []string // the blocks that both have, in order
	for _, e := range was.entries {
		if _, name := e.Split(); name != "" && now.Get(e.Key.value) != nil {
			before = append(before, e.Key.value)
		}
	}
	for _, e := range now.entries {
		if _, name := e.Split(); name != "" && was.Get(e.Key.value) != nil {
			after = append(after, e.Key.value)
		}
		d.node(append(path, e.Key.value), was.Get(e.Key.value), e.Value)
	}
	if !slices.Equal(before, after) {
		d.add(append(path, "the order of its blocks"), now)
	}
}
