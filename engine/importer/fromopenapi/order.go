package fromopenapi

import (
	"cmp"
	"slices"
)

// order sorts operations: registration and login first, then by group, create before read before update; deletions come at the end in
// reverse, and logout last. Operations come after those that they need.
func (b *builder) order() {
	groups := map[string]int{}
	for _, o := range b.ops {
		if _, ok := groups[o.group]; !ok {
			groups[o.group] = len(groups)
		}
	}
	waiting := slices.Clone(b.ops)
	slices.SortStableFunc(waiting, func(x, y *operation) int { return compare(x, y, groups) })
	done := make(map[*operation]bool, len(waiting))
	sorted := make([]*operation, 0, len(waiting))
	var place func(o *operation, depth int)
	place = func(o *operation, depth int) {
		if done[o] {
			return
		}
		done[o] = true
		for _, n := range o.needs {
			if n.from != nil && depth < 50 {
				place(n.from.of, depth+1)
			}
		}
		sorted = append(sorted, o)
	}
	for _, o := range waiting {
		place(o, 0)
	}
	b.ops = sorted
}

func compare(x, y *operation, groups map[string]int) int {
	if c := cmp.Compare(phase(x), phase(y)); c != 0 {
		return c
	}
	sign := 1
	if x.role == remove {
		sign = -1
	}
	return cmp.Or(
		sign*cmp.Compare(groups[x.group], groups[y.group]),
		cmp.Compare(rank(x), rank(y)),
		sign*cmp.Compare(x.depth, y.depth),
		cmp.Compare(x.at, y.at),
	)
}

func phase(o *operation) int {
	switch o.role {
	case register:
		return 0
	case login:
		return 1
	case remove:
		return 3
	case logout:
		return 4
	case other, create, list, read, update, action:
	}
	return 2
}

func rank(o *operation) int {
	switch o.role {
	case create:
		return 0
	case list:
		return 1
	case update:
		return 3
	case action:
		return 4
	case other, register, login, read, remove, logout:
	}
	return 2
}
