package script

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// round implements round(x), the nearest int, half away from zero, and round(x, n), a float with n decimals.
func round(m *machine, a args, kw kwargs) (value.Value, error) {
	var x value.Value
	var digits value.Value = starlark.None
	if len(kw) == 0 && len(a) == 1 {
		x = a[0]
	} else if len(kw) == 0 && len(a) == 2 {
		x, digits = a[0], a[1]
	} else if err := starlark.UnpackArgs("round", a, kw, "x", &x, "n?", &digits); err != nil {
		return nil, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok {
		return nil, fmt.Errorf("round: got %s, want a number", x.Type())
	}
	if digits == starlark.None {
		if i, ok := x.(starlark.Int); ok {
			return i, nil
		}
		if err := value.CheckFloat(f); err != nil {
			return nil, err
		}
		i, err := starlark.NumberToInt(starlark.Float(math.Round(f)))
		if err != nil {
			return nil, err
		}
		return i, m.ChargeResult(i)
	}
	n, err := starlark.AsInt32(digits)
	if err != nil {
		return nil, fmt.Errorf("round: n: %w", err)
	}
	return starlark.Float(roundTo(f, n)), nil
}

// roundTo rounds f's shortest decimal, half away from zero: 2.675 becomes 2.68, although the float is slightly
// smaller.
func roundTo(f float64, n int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || n > 20 {
		return f
	}
	if n < 0 {
		p := math.Pow10(-n)
		return math.Round(f/p) * p
	}
	var buf [40]byte
	text := strconv.AppendFloat(buf[:0], f, 'f', -1, 64)
	point := slices.Index(text, '.')
	if point < 0 || len(text)-point-1 <= n {
		return f
	}
	up := text[point+1+n] >= '5'
	text = text[:point+1+n]
	for i := len(text) - 1; up && i >= 0; i-- {
		switch c := text[i]; {
		case c == '9':
			text[i] = '0'
		case '0' <= c && c < '9':
			text[i]++
			up = false
		}
	}
	g, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return f
	}
	if up { // 9.96 to 10.0: all digits were nines, and are zeros now
		g = math.Copysign(math.Pow10(len(text[:point])-signs(text)), f)
	}
	return g
}

// signs returns 1 for the text of a negative number.
func signs(text []byte) int {
	if text[0] == '-' {
		return 1
	}
	return 0
}
