package scenario

import (
	"math"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// kind is what the cells of a column are.
type kind uint8

// The kinds of columns, the narrowest first. A column has the first kind that fits all its cells, but true is not a
// number.
const (
	boolKind kind = iota
	intKind
	floatKind
	stringKind
)

var kindNames = []string{"bool", "int", "float", "string"}

// kindHints say what a cell of a kind looks like.
var kindHints = []string{"true or false", "a whole number", "a number, such as 1.5", "text"}

// fits reports whether a cell that is not empty is of the kind.
func (k kind) fits(cell string) bool {
	switch k {
	case boolKind:
		_, ok := asBool(cell)
		return ok
	case intKind:
		_, ok := asInt(cell)
		return ok
	case floatKind:
		_, ok := asFloat(cell)
		return ok
	case stringKind:
	}
	return true
}

// value reads a cell of the kind that is not empty.
func (k kind) value(cell string) value.Value {
	switch k {
	case boolKind:
		b, _ := asBool(cell)
		return starlark.Bool(b)
	case intKind:
		i, _ := asInt(cell)
		return starlark.MakeInt64(i)
	case floatKind:
		f, _ := asFloat(cell)
		return float(f)
	case stringKind:
	}
	return starlark.String(cell)
}

func asBool(cell string) (value, ok bool) {
	switch strings.TrimSpace(cell) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// asInt reads a whole number. A leading zero makes a text, as in a postal code.
func asInt(cell string) (int64, bool) {
	cell = strings.TrimSpace(cell)
	if digits := strings.TrimLeft(cell, "+-"); len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	i, err := strconv.ParseInt(cell, 10, 64)
	return i, err == nil && i != noInt
}

// asFloat reads a number in decimals. A whole number that no int64 holds is a text: an account, not an amount.
func asFloat(cell string) (float64, bool) {
	cell = strings.TrimSpace(cell)
	digits := strings.TrimLeft(cell, "+-")
	switch {
	case digits == "", strings.Trim(digits, "0123456789.eE+-") != "":
		return 0, false
	case len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E':
		return 0, false
	case !strings.ContainsAny(digits, ".eE"):
		i, ok := asInt(cell)
		return float64(i), ok
	}
	f, err := strconv.ParseFloat(cell, 64)
	return f, err == nil && !math.IsInf(f, 0)
}
