package script

import (
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Time shows a time to expressions. Its fields are year, month, day, hour, minute, second, weekday (0 is Monday),
// yearday (1 is January 1st), date ("2026-01-02"), iso (RFC 3339) and unix (seconds), in t's own time zone. Times are
// comparable; t - u is a float of seconds, t + s and t - s are times. In texts and JSON it is RFC 3339.
func Time(t time.Time) Value { return moment{t} }

type moment struct{ t time.Time }

var momentFields = []string{
	"year", "month", "day", "hour", "minute", "second", "weekday", "yearday", "date", "iso", "unix",
}

func (m moment) iso() string           { return m.t.Format(time.RFC3339Nano) }
func (m moment) String() string        { return m.iso() }
func (m moment) Type() string          { return "time" }
func (m moment) Freeze()               {}
func (m moment) Truth() starlark.Bool  { return true }
func (m moment) AttrNames() []string   { return slices.Clone(momentFields) }
func (m moment) Hash() (uint32, error) { return starlark.MakeInt64(m.t.UnixNano()).Hash() }

// Attr implements Starlark's x.name.
func (m moment) Attr(name string) (Value, error) {
	switch name {
	case "year":
		return starlark.MakeInt(m.t.Year()), nil
	case "month":
		return starlark.MakeInt(int(m.t.Month())), nil
	case "day":
		return starlark.MakeInt(m.t.Day()), nil
	case "hour":
		return starlark.MakeInt(m.t.Hour()), nil
	case "minute":
		return starlark.MakeInt(m.t.Minute()), nil
	case "second":
		return starlark.MakeInt(m.t.Second()), nil
	case "weekday":
		return starlark.MakeInt((int(m.t.Weekday()) + 6) % 7), nil
	case "yearday":
		return starlark.MakeInt(m.t.YearDay()), nil
	case "date":
		return starlark.String(m.t.Format(time.DateOnly)), nil
	case "iso":
		return starlark.String(m.iso()), nil
	case "unix":
		return starlark.MakeInt64(m.t.Unix()), nil
	}
	return nil, noField("time", name, momentFields)
}

// Cmp orders times as instants, regardless of their time zones.
func (m moment) Cmp(y Value, _ int) (int, error) { return m.t.Compare(y.(moment).t), nil }

// maxShift limits how far a time can be moved, in seconds: about 290 years, the range of a time.Duration.
const maxShift = 9e9

// Binary implements t - u, t + seconds, seconds + t and t - seconds; Starlark rejects everything else.
func (m moment) Binary(op syntax.Token, y Value, side starlark.Side) (Value, error) {
	if u, ok := y.(moment); ok {
		if op == syntax.MINUS && side == starlark.Left {
			return starlark.Float(m.t.Sub(u.t).Seconds()), nil
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
		return nil, &problem{text: "a time cannot be moved that far", hint: "the number is in seconds"}
	}
	whole := time.Duration(s) * time.Second
	return moment{m.t.Add(whole + time.Duration((s-float64(time.Duration(s)))*1e9))}, nil
}

var (
	_ starlark.HasAttrs       = moment{}
	_ starlark.TotallyOrdered = moment{}
	_ starlark.HasBinary      = moment{}
)
