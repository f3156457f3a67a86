package chart

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

const day = 86400

var clockSteps = [...]float64{
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	day, 2 * day, 5 * day, 10 * day, 20 * day, 50 * day, 100 * day, 200 * day, 500 * day,
}

// clock is the horizontal range of a chart in Unix seconds, divided at round times of its zone.
type clock struct {
	from, to float64
	zone     *time.Location
	offset   float64 // offset of the zone from UTC at the end of the range
	step     float64 // 0: no ticks
	numbers  bool    // the axis has numbers instead of times
	elapsed  bool    // the axis has times since the start of a run
}

// divide sets the smallest step that keeps ticks some seconds apart: short for labels of hours and minutes, long for labels with seconds.
func (c *clock) divide(short, long float64) {
	if c.numbers {
		c.step = roundStep(short)
		return
	}
	_, offset := time.Unix(int64(c.to), 0).In(c.zone).Zone()
	c.offset = float64(offset)
	for _, c.step = range clockSteps {
		if c.step >= 60 && c.step >= short || c.step >= long {
			return
		}
	}
	c.step = math.Ceil(short/(500*day)) * 500 * day
}

// roundStep returns the smallest of 1, 2, 5, 10, 20 and so on that is at least least.
func roundStep(least float64) float64 {
	for unit := 1.0; ; unit *= 10 {
		for _, n := range [...]float64{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

// ticks returns the numbers of the first tick and of the tick after the last.
func (c *clock) ticks() (first, end int64) {
	if c.step == 0 {
		return 0, 0
	}
	return int64(math.Ceil((c.from + c.offset) / c.step)), int64(math.Floor((c.to+c.offset)/c.step)) + 1
}

// tick returns the Unix second of a tick.
func (c *clock) tick(n int64) float64 { return float64(n)*c.step - c.offset }

// appendLabel appends a tick's time of day, or the date at the start of a day.
func (c *clock) appendLabel(b []byte, n int64) []byte {
	if c.numbers {
		return strconv.AppendInt(b, int64(c.tick(n)), 10)
	}
	if c.elapsed {
		return appendElapsed(b, c.tick(n))
	}
	at := time.Unix(int64(c.tick(n)), 0).In(c.zone)
	switch {
	case c.step >= day || at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0:
		return at.AppendFormat(b, "2 Jan")
	case c.step < 60:
		return at.AppendFormat(b, "15:04:05")
	default:
		return at.AppendFormat(b, "15:04")
	}
}

// appendMoment appends a time with seconds, and with the date if the range is longer than a day.
func (c *clock) appendMoment(b []byte, at float64) []byte {
	if c.numbers {
		return strconv.AppendInt(append(b, "cycle "...), int64(math.Round(at)), 10)
	}
	if c.elapsed {
		return appendElapsed(append(b, "after "...), at)
	}
	t := moments(at).In(c.zone)
	if c.to-c.from >= day {
		return t.AppendFormat(b, "2 Jan 15:04:05")
	}
	return t.AppendFormat(b, time.TimeOnly)
}

// appendElapsed appends seconds as minutes and seconds, such as 1:30, or with hours, such as 2:01:30.
func appendElapsed(b []byte, seconds float64) []byte {
	s := max(int64(math.Round(seconds)), 0)
	if s >= 3600 {
		return fmt.Appendf(b, "%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Appendf(b, "%d:%02d", s/60, s%60)
}

// jumped reports whether the range differs from before by more than the passing of time.
func (c *clock) jumped(before *clock) bool {
	was, is := before.to-before.from, c.to-c.from
	return was > 0 && (c.to < before.to-1 || math.Abs(is-was) > 0.2*was+5 || c.from > before.to)
}

// Seconds returns a time in Unix seconds, as in Data and History.
func Seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
