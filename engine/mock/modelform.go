package mock

import (
	"math"
)

// form is what a schema allows, as far as it takes to make a document of it.
type form struct {
	kind formKind
	// depth is that of its shallowest document, or endless.
	depth   int
	choices []*form  // one of these
	values  []string // JSON texts, one of these
	fields  []field  // of an object, in the order of the schema
	extra   *form    // of an object's members that have no field; nil is not wanted
	items   *form    // of an array
	least   int      // items
	most    int
	text    *textRule
	number  *numberRule
}

type field struct {
	name     string // as a JSON text
	form     *form
	required bool
}

type formKind uint8

const (
	formNothing formKind = iota // false
	formChoice
	formValue
	formObject
	formArray
	formText
	formNumber
)

// endless is the depth of what no document fits.
const endless = math.MaxInt32

// settleDepths finds the depth of every form: the least fixed point.
func settleDepths(forms []*form) {
	for _, s := range forms {
		s.depth = endless
	}
	for changed := true; changed; {
		changed = false
		for _, s := range forms {
			if d := s.shallowest(); d < s.depth {
				s.depth, changed = d, true
			}
		}
	}
}

// shallowest is the depth as the depths of the parts have it. Every step down counts, also one that writes nothing,
// so that always going to a shallower part ends.
func (s *form) shallowest() int {
	d := 0
	switch s.kind {
	case formNothing:
		return endless
	case formValue, formText, formNumber:
	case formChoice:
		d = endless
		for _, c := range s.choices {
			d = min(d, c.depth)
		}
	case formObject:
		for _, f := range s.fields {
			if f.required {
				d = max(d, f.form.depth)
			}
		}
	case formArray:
		if s.least > 0 {
			d = s.items.depth
		}
	}
	if d == endless {
		return endless
	}
	return d + 1
}
