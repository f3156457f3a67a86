package people

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// reading is how the values of a Parquet column become cells.
type reading struct {
	kind Kind
	get  func(parquet.Value) (Cell, error) // of a value that is not null
}

// cell returns the cell of a value.
func (r *reading) cell(v parquet.Value) (Cell, error) {
	if v.IsNull() {
		return Cell{}, nil
	}
	return r.get(v)
}

// maxScale is the largest number of decimals of a decimal number.
const maxScale = 76

// readingOf returns how a type is read, or the problem with it.
func readingOf(t parquet.Type) (r reading, problem string) {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.BsonType, *format.VariantType, *format.GeometryType, *format.GeographyType:
		return r, fmt.Sprintf("holds %s, not text or numbers", l)
	case *format.DecimalType:
		if l.Scale < 0 || l.Scale > maxScale {
			return r, fmt.Sprintf("has a scale of %d", l.Scale)
		}
		return decimal(t.Kind(), l.Scale), ""
	case *format.DateType:
		return reading{String, func(v parquet.Value) (Cell, error) {
			return text(time.Unix(int64(v.Int32())*24*60*60, 0).UTC().Format(time.DateOnly)), nil
		}}, ""
	case *format.TimestampType:
		unit := l.Unit.Value.Duration()
		return reading{String, func(v parquet.Value) (Cell, error) { return moment(since1970(v.Int64(), unit)), nil }}, ""
	case *format.TimeType:
		return reading{String, func(v parquet.Value) (Cell, error) {
			n := v.Int64()
			if v.Kind() == parquet.Int32 {
				n = int64(v.Int32())
			}
			return text(since1970(n, l.Unit.Value.Duration()).Format("15:04:05.999999999")), nil
		}}, ""
	case *format.UUIDType:
		return reading{String, uuid}, ""
	case *format.Float16Type:
		return reading{Float, func(v parquet.Value) (Cell, error) { return number(half(v.ByteArray())), nil }}, ""
	case *format.IntType:
		if !l.IsSigned {
			return unsigned(t.Kind()), ""
		}
	}
	return physical(t.Kind())
}

// physical returns how values without a special meaning are read.
func physical(k parquet.Kind) (r reading, problem string) {
	switch k {
	case parquet.Boolean:
		return reading{Bool, func(v parquet.Value) (Cell, error) {
			c := Cell{Kind: Bool, Present: true}
			if v.Boolean() {
				c.Int = 1
			}
			return c, nil
		}}, ""
	case parquet.Int32:
		return reading{Int, func(v parquet.Value) (Cell, error) { return whole(int64(v.Int32())), nil }}, ""
	case parquet.Int64:
		return reading{Int, func(v parquet.Value) (Cell, error) { return whole(v.Int64()), nil }}, ""
	case parquet.Float:
		return reading{Float, func(v parquet.Value) (Cell, error) { return number(float64(v.Float())), nil }}, ""
	case parquet.Double:
		return reading{Float, func(v parquet.Value) (Cell, error) { return number(v.Double()), nil }}, ""
	case parquet.ByteArray:
		return reading{String, characters}, ""
	case parquet.FixedLenByteArray:
	case parquet.Int96:
		return reading{String, func(v parquet.Value) (Cell, error) {
			t := v.Int96() // nanoseconds of the day, and the Julian day
			days := int64(t[2]) - 2440588
			return moment(time.Unix(days*24*60*60, int64(uint64(t[1])<<32|uint64(t[0]))).UTC()), nil
		}}, ""
	}
	return r, "holds bytes without a meaning"
}

func whole(n int64) Cell { return Cell{Kind: Int, Present: true, Int: n} }

func moment(t time.Time) Cell { return text(t.UTC().Format(time.RFC3339Nano)) }

// since1970 returns the time that is n units after the start of 1970, in UTC.
func since1970(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	return time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC()
}

var errNotText = errors.New("the value is not UTF-8 text")

// characters reads a text without copying it.
func characters(v parquet.Value) (Cell, error) {
	b := v.ByteArray()
	if !utf8.Valid(b) {
		return Cell{}, errNotText
	}
	return text(unsafe.String(unsafe.SliceData(b), len(b))), nil
}

func uuid(v parquet.Value) (Cell, error) {
	b := v.ByteArray()
	if len(b) != 16 {
		return Cell{}, fmt.Errorf("a UUID of %d bytes", len(b))
	}
	s := hex.EncodeToString(b)
	return text(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]), nil
}

// unsigned reads whole numbers without a sign.
func unsigned(k parquet.Kind) reading {
	return reading{Int, func(v parquet.Value) (Cell, error) {
		if k == parquet.Int32 {
			return whole(int64(v.Uint32())), nil
		}
		if n := v.Uint64(); n > math.MaxInt64 {
			return Cell{}, fmt.Errorf("%d is too large", n)
		}
		return whole(v.Int64()), nil
	}}
}

// decimal reads numbers with a fixed number of decimals.
func decimal(k parquet.Kind, scale int32) reading {
	by := math.Pow10(int(scale))
	return reading{Float, func(v parquet.Value) (Cell, error) {
		switch k {
		case parquet.Int32:
			return number(float64(v.Int32()) / by), nil
		case parquet.Int64:
			return number(float64(v.Int64()) / by), nil
		default:
		}
		b := v.ByteArray() // big-endian two's complement
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		x, _ := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).Float64()
		return number(x), nil
	}}
}

// half reads a float of 16 bits, little-endian (IEEE 754 binary16).
func half(b []byte) float64 {
	if len(b) != 2 {
		return math.NaN()
	}
	bits := uint16(b[0]) | uint16(b[1])<<8
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	x := 0.0
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 != 0 {
		x = -x
	}
	return x
}
