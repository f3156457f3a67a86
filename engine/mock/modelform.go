package mock

import (
	"math"
)

// form is the part of a schema that is needed to make documents.
type form struct {
	kind formKind
	// depth is the depth of its shallowest document, or endless.
	depth   int
	choices []*form  // one of these
	values  []string // JSON texts, one of these
	fields  []field  // of an object, in schema order
	extra   *form    // of an object's members without a field; nil for none
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

// endless is the depth of a form that no finite document matches.
const endless = math.MaxInt32

// settleDepths computes the depth of every form: the least fixed point.
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

// shallowest computes the depth from the current depths of the parts. Every step counts, also one that writes nothing, so that always
// choosing a shallower part terminates.
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
