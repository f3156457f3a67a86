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
		if f, ok := shortDecimal(raw); ok {
			return number(f), nil
		}
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

// shortDecimal converts a well-formed number of at most 15 digits without an exponent, such as a price. Both of its parts are exact as
// float64, so that one division rounds correctly (Clinger 1990). [strconv.ParseFloat] does the same, but needs a kilobyte of stack for
// other numbers, which every session that waits would keep.
func shortDecimal(raw []byte) (f float64, ok bool) {
	const most = 15
	var n int64
	digits, point := 0, -1
	for _, c := range raw {
		switch {
		case '0' <= c && c <= '9':
			n = n*10 + int64(c-'0')
			digits++
		case c == '.':
			point = digits
		case c != '-':
			return 0, false
		}
		if digits > most {
			return 0, false
		}
	}
	if f = float64(n) / tens[digits-point]; raw[0] == '-' {
		f = -f
	}
	return f, true
}

// tens are powers of ten, which are exact as float64.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
