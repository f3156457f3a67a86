package people

import (
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a column's cells.
type Kind uint8

// The kinds of columns, the narrowest first. A column of texts has the first kind that fits all its cells, but true is not
// a number.
const (
	Bool Kind = iota
	Int
	Float
	String
)

// KindNames are the names of the kinds in scenarios, and KindHints describe a cell of each.
var (
	KindNames = []string{"bool", "int", "float", "string"}
	KindHints = []string{"true or false", "a whole number", "a number, such as 1.5", "text"}
)

// NoInt is the only int64 that no cell holds.
const NoInt = math.MinInt64

// Fits reports whether the text of a cell, which is not empty, is of the kind.
func (k Kind) Fits(cell string) bool {
	_, ok := k.Parse(cell)
	return ok
}

// Parse reads the text of a cell. The cell of an empty text is missing.
func (k Kind) Parse(cell string) (c Cell, ok bool) {
	c = Cell{Kind: k, Present: cell != ""}
	if !c.Present {
		return c, true
	}
	switch k {
	case Bool:
		var is bool
		if is, ok = asBool(cell); is {
			c.Int = 1
		}
	case Int:
		c.Int, ok = asInt(cell)
	case Float:
		c.Float, ok = asFloat(cell)
	case String:
		c.Text, ok = cell, true
	}
	return c, ok
}

// Widen returns the narrowest kind, from k on, that fits the text of a cell too. first says that no cell was seen before.
func (k Kind) Widen(cell string, first bool) Kind {
	for !k.Fits(cell) {
		if k == Bool && !first { // true is not a number
			return String
		}
		k++
	}
	return k
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
	return i, err == nil && i != NoInt
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
