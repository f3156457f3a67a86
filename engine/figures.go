package engine

import (
	"time"

	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/engine/internal/stats"
)

// FormatCount formats a count with thousands separators.
func FormatCount(n int64) string { return figures.Count(n) }

// Counted formats a count with a noun in the singular or plural.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}

// FormatRate formats a rate per second with three digits, as in the reasons of rate limiters.
func FormatRate(rate float64) string { return stats.PerSecond(rate) }

// FormatDuration formats a duration with two or three digits, or in two units, such as 340 ms or 2 min 45 s.
func FormatDuration(d time.Duration) string { return figures.Duration(d) }

// FormatBytes formats a size in bytes with two or three digits in decimal units.
func FormatBytes(n int64) string { return figures.Bytes(n) }

// FormatDollars formats billionths of a US dollar: with cents from one dollar on, and with significant digits below.
func FormatDollars(billionths int64) string { return figures.Dollars(billionths) }

// FormatCost formats the cost of model calls, as far as prices are known.
func FormatCost(u *Usage) string {
	if u.Unpriced == 0 {
		return FormatDollars(u.Cost)
	}
	text := "cost unknown for " + FormatCount(u.Unpriced) + " calls"
	if u.Cost > 0 {
		text = FormatDollars(u.Cost) + " and " + text
	}
	return text
}
