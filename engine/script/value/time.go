package value

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Time is a time in expressions. Its fields are year, month, day, hour, minute, second, weekday (0 is Monday),
// yearday (1 is January 1st), date ("2026-01-02"), iso (RFC 3339) and unix (seconds), in its own time zone. Times are
// comparable; t - u is a float of seconds, t + s and t - s are times. In texts and JSON it is RFC 3339.
type Time struct{ at time.Time }

// NewTime returns t as a value.
func NewTime(t time.Time) Time { return Time{t} }

var timeFields = []string{
	"year", "month", "day", "hour", "minute", "second", "weekday", "yearday", "date", "iso", "unix",
}

func (t Time) iso() string { return t.at.Format(time.RFC3339Nano) }

// String returns the time in RFC 3339.
func (t Time) String() string { return t.iso() }

// Type is "time".
func (t Time) Type() string { return "time" }

// Freeze does nothing: times are immutable.
func (t Time) Freeze() {}

// Truth is true.
func (t Time) Truth() starlark.Bool { return true }

// AttrNames returns the names of the fields.
func (t Time) AttrNames() []string { return slices.Clone(timeFields) }

// Hash returns the same for the same instant in different time zones.
func (t Time) Hash() (uint32, error) { return starlark.MakeInt64(t.at.UnixNano()).Hash() }

// Attr implements Starlark's x.name.
func (t Time) Attr(name string) (Value, error) {
	switch name {
	case "year":
		return starlark.MakeInt(t.at.Year()), nil
	case "month":
		return starlark.MakeInt(int(t.at.Month())), nil
	case "day":
		return starlark.MakeInt(t.at.Day()), nil
	case "hour":
		return starlark.MakeInt(t.at.Hour()), nil
	case "minute":
		return starlark.MakeInt(t.at.Minute()), nil
	case "second":
		return starlark.MakeInt(t.at.Second()), nil
	case "weekday":
		return starlark.MakeInt((int(t.at.Weekday()) + 6) % 7), nil
	case "yearday":
		return starlark.MakeInt(t.at.YearDay()), nil
	case "date":
		return starlark.String(t.at.Format(time.DateOnly)), nil
	case "iso":
		return starlark.String(t.iso()), nil
	case "unix":
		return starlark.MakeInt64(t.at.Unix()), nil
	}
	return nil, noField("time", name, timeFields)
}

// Cmp orders times as instants, regardless of their time zones.
func (t Time) Cmp(y Value, _ int) (int, error) { return t.at.Compare(y.(Time).at), nil }

// maxShift limits how far a time can be moved, in seconds: about 290 years, the range of a time.Duration.
const maxShift = 9e9

// Binary implements t - u, t + seconds, seconds + t and t - seconds; Starlark rejects everything else.
func (t Time) Binary(op syntax.Token, y Value, side starlark.Side) (Value, error) {
	if u, ok := y.(Time); ok {
		if op == syntax.MINUS && side == starlark.Left {
			return starlark.Float(t.at.Sub(u.at).Seconds()), nil
		}
		return nil, nil
	}
	s, ok := starlark.AsFloat(y)
	if !ok || op != syntax.PLUS && (op != syntax.MINUS || side == starlark.Right) {
		return nil, nil
	}
	if op == syntax.MINUS {
		s = -s
	}
	if !(s >= -maxShift && s <= maxShift) {
		return nil, NewError("a time cannot be moved that far", "the number is in seconds")
	}
	whole := time.Duration(s) * time.Second
	return Time{t.at.Add(whole + time.Duration((s-float64(time.Duration(s)))*1e9))}, nil
}

var (
	_ starlark.HasAttrs       = Time{}
	_ starlark.TotallyOrdered = Time{}
	_ starlark.HasBinary      = Time{}
)
