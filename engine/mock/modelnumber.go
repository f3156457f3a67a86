package mock

import (
	"errors"
	"math/big"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/fraction"
)

// numberRule is a schema's rule for a number, in exact fractions.
type numberRule struct {
	whole               bool
	least, most         *big.Rat // nil: no bound
	openLeast, openMost bool     // the bound itself is excluded
	multipleOf          *big.Rat // nil: any number
	step                *big.Rat // values are multiples of it
	from, count         *big.Int // from*step is the first of count values
}

// usualSpan is the range of values when one of the bounds is absent.
const usualSpan = 100

var errNoNumber = errors.New("there is no number within these bounds")

// settle finds the values that match: all multiples of a step between the bounds.
func (n *numberRule) settle() error {
	switch {
	case n.multipleOf != nil && n.whole:
		// The whole multiples of p/q, in lowest terms, are the multiples of p.
		n.step = new(big.Rat).SetInt(n.multipleOf.Num())
	case n.multipleOf != nil:
		n.step = n.multipleOf
	case n.whole:
		n.step = big.NewRat(1, 1)
	default:
		n.step = big.NewRat(1, 100)
	}
	for range fraction.Finest {
		n.between()
		if n.count.Sign() > 0 {
			return nil
		}
		if n.whole || n.multipleOf != nil {
			break
		}
		n.step = new(big.Rat).Mul(n.step, big.NewRat(1, 10))
	}
	return errNoNumber
}

// between counts the multiples of the step between the bounds.
func (n *numberRule) between() {
	span := new(big.Rat).Mul(n.step, big.NewRat(usualSpan, 1))
	if wide := big.NewRat(usualSpan, 1); n.step.Cmp(big.NewRat(1, 1)) < 0 {
		span = wide
	}
	least, most := n.least, n.most
	switch {
	case least == nil && most == nil:
		least, most = new(big.Rat), span
	case least == nil:
		least = new(big.Rat).Sub(most, span)
	case most == nil:
		most = new(big.Rat).Add(least, span)
	}
	first, exact := ceil(new(big.Rat).Quo(least, n.step))
	if exact && n.openLeast {
		first.Add(first, big.NewInt(1))
	}
	last, exact := ceil(new(big.Rat).Quo(most, n.step))
	if !exact || n.openMost {
		last.Sub(last, big.NewInt(1))
	}
	n.from = first
	n.count = last.Sub(last, first)
	n.count.Add(n.count, big.NewInt(1))
}

// ceil returns the smallest whole number that is at least r, and whether it equals r.
func ceil(r *big.Rat) (*big.Int, bool) {
	q, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() == 0 {
		return q, true
	}
	return q.Add(q, big.NewInt(1)), false
}

// draw returns one of the values in JSON form.
func (n *numberRule) draw(s *draw.Source) string {
	at := new(big.Int).SetUint64(s.Uint64() >> 1)
	return n.value(at.Mod(at, n.count))
}

// level returns the value at a place from 0 to below 1 on the scale of the values.
func (n *numberRule) level(place float64) string {
	const parts = 1 << 30
	at := new(big.Int).Mul(n.count, big.NewInt(int64(place*parts)))
	return n.value(at.Rsh(at, 30))
}

func (n *numberRule) value(at *big.Int) string {
	value := new(big.Rat).SetInt(at.Add(at, n.from))
	return fraction.Text(value.Mul(value, n.step))
}
