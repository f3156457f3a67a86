package people

import (
	"math"
	"strconv"
)

// Cell is one value of a row. The zero value is missing.
type Cell struct {
	Kind    Kind
	Present bool
	Int     int64 // of Int; 0 or 1 of Bool
	Float   float64
	Text    string // may be overwritten when the next row is read
}

// text returns the cell of a text; an empty one is missing.
func text(s string) Cell { return Cell{Kind: String, Present: s != "", Text: s} }

// number returns the cell of a number; NaN and infinities are kept, for checks.
func number(f float64) Cell { return Cell{Kind: Float, Present: true, Float: f} }

// String returns the cell as text: numbers in their shortest exact form, "" for a missing cell.
func (c Cell) String() string {
	switch {
	case !c.Present:
		return ""
	case c.Kind == Bool:
		return strconv.FormatBool(c.Int != 0)
	case c.Kind == Int:
		return strconv.FormatInt(c.Int, 10)
	case c.Kind == Float:
		if size := math.Abs(c.Float); size >= 1e-6 && size < 1e15 {
			return strconv.FormatFloat(c.Float, 'f', -1, 64)
		}
		return strconv.FormatFloat(c.Float, 'g', -1, 64)
	}
	return c.Text
}

// Number returns the cell as a number, if it is one.
func (c Cell) Number() (float64, bool) {
	switch {
	case !c.Present, c.Kind == Bool:
		return 0, false
	case c.Kind == Int:
		return float64(c.Int), true
	case c.Kind == Float:
		return c.Float, true
	}
	switch c.Text {
	case "NaN", "nan", "Inf", "-Inf", "inf", "-inf":
		f, err := strconv.ParseFloat(c.Text, 64)
		return f, err == nil
	}
	return asFloat(c.Text)
}

// maxExact is the largest whole number up to which a float64 holds every whole number.
const maxExact = 1 << 53

// As converts the cell to a kind. 0 and 1 convert to false and true, whole floats to ints, and everything to text.
func (c Cell) As(k Kind) (Cell, bool) {
	switch {
	case !c.Present:
		return Cell{Kind: k}, true
	case c.Kind == k && k == Int:
		return c, c.Int != NoInt
	case c.Kind == k && k == Float && math.IsNaN(c.Float):
		return Cell{Kind: k}, true // an absent number in many tools
	case c.Kind == k && k == Float:
		return c, !math.IsInf(c.Float, 0)
	case c.Kind == k:
		return c, true
	case k == String:
		return text(c.String()), true
	case k == Bool && (c.String() == "0" || c.String() == "1"):
		c.Int = int64(c.String()[0] - '0')
		return Cell{Kind: Bool, Present: true, Int: c.Int}, true
	case k == Float && c.Kind == Int:
		return number(float64(c.Int)), true
	case k == Int && c.Kind == Float:
		return c.whole()
	case c.Kind != String:
		return Cell{}, false
	}
	parsed, ok := k.Parse(c.Text)
	if f, isFloat := asFloat(c.Text); !ok && k == Int && isFloat {
		return number(f).whole() // such as 40.0
	}
	return parsed, ok
}

// whole converts a float without decimals to an int.
func (c Cell) whole() (Cell, bool) {
	exact := c.Float == math.Trunc(c.Float) && math.Abs(c.Float) <= maxExact
	return Cell{Kind: Int, Present: true, Int: int64(c.Float)}, exact
}
