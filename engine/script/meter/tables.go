package meter

import (
	"math"

	"go.starlark.net/starlark"
)

// Dicts and sets are hash tables of the Starlark library, whose hashes of ints, floats and tuples collide easily: 1 <<
// 32, 2 << 32 and so on have the same hash; 1 << 16 and 2 << 16 have the same low bits, which select the bucket.
// Colliding keys turn the table into a list that is searched from the front. So the number of colliding keys per table
// is limited, and each lookup charges steps.
const (
	maxAlike    = 1024
	keysPerStep = 32   // keys compared in one step
	sketchSize  = 4096 // a power of two, like the number of buckets of a table
)

// sketch counts keys by the low bits of their hash.
type sketch [sketchSize]uint16

// add counts a key, and returns how many keys have the same low bits.
func (s *sketch) add(k starlark.Value) (int, error) {
	h, err := k.Hash()
	if err != nil {
		return 0, err
	}
	count := &s[h%sketchSize]
	if *count < math.MaxUint16 {
		*count++
	}
	return int(*count), nil
}

// ChargeHash charges the hashing of v. A string costs its length, a tuple the sum of its elements, which can be large for
// tuples with shared parts.
func (m *Meter) ChargeHash(v starlark.Value) error { return m.hash(v, 0) }

// hash charges v at tuple nesting level depth.
func (m *Meter) hash(v starlark.Value, depth int) error {
	switch v := v.(type) {
	case starlark.String:
		return m.Work(len(v))
	case starlark.Bytes:
		return m.Work(len(v))
	case starlark.Tuple:
		if depth == MaxDepth {
			return ErrTooDeep
		}
		if err := m.Step(1 + len(v)); err != nil {
			return err
		}
		for _, x := range v {
			if err := m.hash(x, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// collides reports whether it is easy to construct many keys with the same hash as v. Strings have a secret seed.
func collides(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes, starlark.Bool, starlark.NoneType:
		return false
	}
	return true
}

// ChargeLookup charges a lookup in a table of n keys.
func (m *Meter) ChargeLookup(k starlark.Value, n int) error {
	if err := m.ChargeHash(k); err != nil || n < keysPerStep || !collides(k) {
		return err
	}
	return m.Step(min(n, maxAlike) / keysPerStep)
}

// CountKey records a key that was added to a table, which now has n keys.
func (m *Meter) CountKey(k starlark.Value, n int) error {
	if !collides(k) {
		return nil
	}
	if m.sketch == nil {
		m.sketch = new(sketch)
	}
	alike, err := m.sketch.add(k)
	if err == nil && alike > maxAlike && n > maxAlike {
		err = errAlike
	}
	return err
}

var errAlike = TooLong("more than %d keys whose hashes are alike", maxAlike)

// Insert implements d[k] = v.
func (m *Meter) Insert(d *starlark.Dict, k, v starlark.Value) error {
	n := d.Len()
	if err := m.ChargeLookup(k, n); err != nil {
		return err
	}
	if err := m.Charge(EntrySize); err != nil {
		return err
	}
	if err := d.SetKey(k, v); err != nil || d.Len() == n {
		return err
	}
	return m.CountKey(k, n+1)
}

// Add implements s.add(k).
func (m *Meter) Add(s *starlark.Set, k starlark.Value) error {
	n := s.Len()
	if err := m.ChargeLookup(k, n); err != nil {
		return err
	}
	if err := m.Charge(EntrySize); err != nil {
		return err
	}
	if err := s.Insert(k); err != nil || s.Len() == n {
		return err
	}
	return m.CountKey(k, n+1)
}

// ChargeTables charges a new table with the keys of these sequences, and a lookup for each of them.
func (m *Meter) ChargeTables(sequences ...starlark.Iterable) error {
	n := 0
	for _, seq := range sequences {
		n += max(starlark.Len(seq), 0)
	}
	if err := m.Charge(DictSize); err != nil {
		return err
	}
	var all *sketch
	if n > maxAlike {
		all = new(sketch)
	}
	for _, seq := range sequences {
		err := m.Each(seq, func(k starlark.Value) error {
			if err := m.ChargeLookup(k, n); err != nil {
				return err
			}
			if all != nil && collides(k) {
				if alike, err := all.add(k); err != nil {
					return err
				} else if alike > maxAlike {
					return errAlike
				}
			}
			return m.Charge(EntrySize)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
