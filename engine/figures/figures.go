// Package figures formats quantities for people. The window, the terminal and reports use it, so a quantity reads the same everywhere.
// The functions that append do not allocate.
package figures

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration formats a duration with two or three digits, such as 340 ms or 1.2 s, or in two units, such as 2 min 45 s.
func Duration(d time.Duration) string { return string(AppendDuration(nil, d)) }

// AppendDuration appends the text of [Duration].
func AppendDuration(b []byte, d time.Duration) []byte {
	switch {
	case d <= 0:
		return append(b, "0 s"...)
	case d < time.Millisecond:
		return append(strconv.AppendInt(b, d.Microseconds(), 10), " µs"...)
	case d < 999500*time.Microsecond:
		return append(short(b, float64(d)/1e6), " ms"...)
	case d < 59500*time.Millisecond:
		return append(short(b, d.Seconds()), " s"...)
	case d < time.Hour-time.Second/2:
		return inUnits(b, d, time.Minute, " min", time.Second, " s")
	case d < 2*day-time.Minute/2:
		return inUnits(b, d, time.Hour, " h", time.Minute, " min")
	default:
		return inUnits(b, d, day, " days", time.Hour, " h")
	}
}

const day = 24 * time.Hour

// inUnits appends a duration in a unit and a smaller one, which is omitted if it is zero.
func inUnits(b []byte, d, unit time.Duration, name string, smaller time.Duration, second string) []byte {
	d = d.Round(smaller)
	b = append(AppendCount(b, int64(d/unit)), name...)
	if rest := d % unit / smaller; rest > 0 {
		b = append(strconv.AppendInt(append(b, ' '), int64(rest), 10), second...)
	}
	return b
}

// Exact formats a duration to the millisecond below a minute, so that it can be compared with a bound.
func Exact(d time.Duration) string {
	switch d = d.Round(time.Millisecond); {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return Duration(d)
}

var byteUnits = [...]string{" kB", " MB", " GB", " TB"}

// Bytes formats a size with two or three digits in decimal units, such as 44 MB or 1.2 GB.
func Bytes(n int64) string { return string(AppendBytes(nil, n)) }

// AppendBytes appends the text of [Bytes].
func AppendBytes(b []byte, n int64) []byte {
	if n < 1000 {
		return append(strconv.AppendInt(b, n, 10), " B"...)
	}
	v, i := float64(n)/1e3, 0
	for ; v >= 999.5 && i < len(byteUnits)-1; i++ {
		v /= 1e3
	}
	if i >= 2 && v < 99.95 && v != math.Trunc(v) { // memory is often some ten GB
		return append(strconv.AppendFloat(b, v, 'f', 1, 64), byteUnits[i]...)
	}
	return append(short(b, v), byteUnits[i]...)
}

// PerSecond formats a rate with two or three digits, or with all digits before the decimal point.
func PerSecond(v float64) string { return string(AppendPerSecond(nil, v)) }

// AppendPerSecond appends the text of [PerSecond].
func AppendPerSecond(b []byte, v float64) []byte {
	switch {
	case v >= 999.5:
		b = AppendCount(b, int64(v+0.5))
	case v < 0.995: // without zeros at the end
		b = strconv.AppendFloat(b, math.Round(v*100)/100, 'f', -1, 64)
	default:
		b = short(b, v)
	}
	return append(b, "/s"...)
}

// Count formats a count with thousands separators.
func Count(n int64) string { return string(AppendCount(nil, n)) }

// AppendCount appends the text of [Count].
func AppendCount(b []byte, n int64) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], n, 10)
	if n < 0 {
		b, text = append(b, '-'), text[1:]
	}
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, c)
	}
	return b
}

// short appends a number with one decimal below 10. A whole number has none, because it is a bound or a setting rather than measured.
func short(b []byte, v float64) []byte {
	if v < 9.95 && v != math.Trunc(v) {
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', 0, 64)
}

// Dollars formats billionths of a US dollar: with cents from one dollar on, and with significant digits below.
func Dollars(billionths int64) string {
	dollars := float64(billionths) / 1e9
	switch {
	case billionths == 0:
		return "$0"
	case dollars >= 1:
		cents := (billionths + 5_000_000) / 10_000_000
		return fmt.Sprintf("$%s.%02d", Count(cents/100), cents%100)
	case dollars >= 0.01:
		return fmt.Sprintf("$%.4f", dollars)
	default:
		two, _ := strconv.ParseFloat(fmt.Sprintf("%.2g", dollars), 64) // always parses
		return "$" + strconv.FormatFloat(two, 'f', -1, 64)
	}
}
