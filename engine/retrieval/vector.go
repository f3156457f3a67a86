package retrieval

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A compact vector has the space and the sum of the squares of its numbers as 4 bytes each, then its numbers as one signed byte each.
const (
	headSize = 8
	largest  = 127
)

// MostNumbers is how many numbers a vector may have.
const MostNumbers = 16_384

// Space identifies what vectors that can be compared have in common, such as the model.
func Space(parts ...string) uint32 {
	h := uint64(0)
	for _, p := range parts {
		h = h*1099511628211 ^ Key([]byte(p))
	}
	return uint32(h ^ h>>32)
}

// Compact returns an embedding in the form in which it is kept: a byte for each number, in steps of 1/127 of the largest. This moves the
// cosine of two embeddings of 256 numbers by 0.0005 on average, and makes it the same on every processor. A vector without a
// direction is an error.
func Compact(vector []float32, space uint32) ([]byte, error) {
	if len(vector) > MostNumbers {
		return nil, fmt.Errorf("an embedding of %d numbers; at most %d", len(vector), MostNumbers)
	}
	most := 0.0
	for i, f := range vector {
		size := math.Abs(float64(f))
		if math.IsNaN(size) || math.IsInf(size, 0) {
			return nil, fmt.Errorf("number %d of an embedding is %v", i+1, f)
		}
		most = max(most, size)
	}
	if most == 0 {
		return nil, errors.New("an embedding has only zeros, so it cannot be compared")
	}
	v := make([]byte, headSize+len(vector))
	squares := uint32(0)
	for i, f := range vector {
		step := int(math.Round(float64(f) / most * largest))
		v[headSize+i] = byte(int8(step))
		squares += uint32(step * step)
	}
	binary.LittleEndian.PutUint32(v, space)
	binary.LittleEndian.PutUint32(v[4:], squares)
	return v, nil
}

// Numbers returns how many numbers a compact vector has, if it belongs to a space; else 0.
func Numbers(v []byte, space uint32) int {
	if len(v) <= headSize || binary.LittleEndian.Uint32(v) != space || binary.LittleEndian.Uint32(v[4:]) == 0 {
		return 0
	}
	return len(v) - headSize
}

// Cosine returns the cosine of the angle between two compact vectors of the same space and length. It is computed with integers up to
// the last step, so it is the same on every processor.
func Cosine(a, b []byte) float64 {
	dot := dotProduct(a[headSize:], b[headSize:])
	squares := float64(binary.LittleEndian.Uint32(a[4:])) * float64(binary.LittleEndian.Uint32(b[4:]))
	return min(max(float64(dot)/math.Sqrt(squares), -1), 1)
}

// dotProduct adds four products at a time, in sums that do not wait for each other. Both vectors have the same length.
func dotProduct(x, y []byte) int32 {
	y = y[:len(x)]
	var s0, s1, s2, s3 int32
	for len(x) >= 4 && len(y) >= 4 {
		s0 += int32(int8(x[0])) * int32(int8(y[0]))
		s1 += int32(int8(x[1])) * int32(int8(y[1]))
		s2 += int32(int8(x[2])) * int32(int8(y[2]))
		s3 += int32(int8(x[3])) * int32(int8(y[3]))
		x, y = x[4:], y[4:]
	}
	for i := range x {
		s0 += int32(int8(x[i])) * int32(int8(y[i]))
	}
	return s0 + s1 + s2 + s3
}
