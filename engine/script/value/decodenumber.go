package value

import (
	"math/big"
	"strconv"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
)

// number reads a number as JSON defines it: no leading zeros, no bare dots.
func (d *decoder) number() (Value, error) {
	start := d.at
	i := start
	if d.data[i] == '-' {
		i++
	}
	digits := func() int {
		from := i
		for i < len(d.data) && '0' <= d.data[i] && d.data[i] <= '9' {
			i++
		}
		return i - from
	}
	zero := i < len(d.data) && d.data[i] == '0'
	n := digits()
	integral := true
	wrong := n == 0 || zero && n > 1
	if !wrong && i < len(d.data) && d.data[i] == '.' {
		i++
		integral = false
		wrong = digits() == 0
	}
	if !wrong && i < len(d.data) && d.data[i]|0x20 == 'e' {
		i++
		integral = false
		if i < len(d.data) && (d.data[i] == '+' || d.data[i] == '-') {
			i++
		}
		wrong = digits() == 0
	}
	if wrong {
		return nil, d.errorf("malformed number")
	}
	if i-start > MaxDigits {
		return nil, meter.TooBig("JSON at offset %d: a number of %d digits", start, i-start)
	}
	raw := d.data[start:i]
	v, err := parseNumber(raw, integral)
	if err != nil {
		return nil, d.errorf("number %s is out of range", raw[:min(len(raw), 40)])
	}
	d.at = i
	return v, nil
}

// parseNumber converts a well-formed number; integral means that it has neither dot nor exponent.
func parseNumber(raw []byte, integral bool) (Value, error) {
	if !integral {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return nil, err
		}
		return number(f), nil
	}
	if len(raw) <= 18 {
		var n int64
		for _, c := range raw {
			if c != '-' {
				n = n*10 + int64(c-'0')
			}
		}
		if raw[0] == '-' {
			n = -n
		}
		return starlark.MakeInt64(n), nil
	}
	n, _ := new(big.Int).SetString(string(raw), 10)
	return starlark.MakeBigInt(n), nil
}
