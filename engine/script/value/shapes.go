package value

import (
	"bytes"
	"slices"
)

// place says roughly where in a document an object is. Objects in the same place usually have the same names.
type place uint32

// field returns the place of the n-th field of an object.
func (p place) field(n int) place { return p*31 + place(n) + 1 }

// shapes are the shapes that a decoder saw last, by place and first name.
type shapes [64]*Shape

// widest is the most names of a shape that is kept, and longest the length in bytes of its longest name.
const widest, longest = 64, 256

// like returns the shape of an earlier object in a place whose names may be the same as those of the object that begins with some name;
// name may have more behind it.
func (s *shapes) like(in place, name []byte) *Shape {
	end := bytes.IndexByte(name[:min(len(name), widest)], '"')
	if shape := s[index(in, name[:max(end, 0)])]; shape != nil {
		return shape
	}
	return emptyShape
}

// keep keeps a shape for a place.
func (s *shapes) keep(in place, shape *Shape) {
	long := func(name string) bool { return len(name) > longest }
	if len(shape.names) <= widest && !slices.ContainsFunc(shape.names, long) {
		s[index(in, shape.names[0])] = shape
	}
}

func index[T string | []byte](in place, name T) int {
	h := uint32(in)
	for i := range len(name) {
		h = h*31 + uint32(name[i])
	}
	return int((h ^ h>>16) % uint32(len(shapes{})))
}
