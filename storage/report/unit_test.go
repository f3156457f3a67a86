package report

import (
	"strings"
	"testing"
	"time"
)

// TestFiguresHaveNoExponent checks numbers above a thousand, which were formatted as 1.42e+03.
func TestFiguresHaveNoExponent(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{counts.text(1422.4), "1,422"},
		{counts.text(999.7), "1,000"},
		{counts.text(42.25), "42.2"},
		{counts.text(12_000), "12,000"},
		{percents.text(1599.9), "1,600%"},
		{sizes.text(999.7e6), "1,000 MB"},
		{sizes.text(1.5e12), "1,500 GB"},
		{durationText(999700 * time.Microsecond), "1 s"},
		{durationText(999400 * time.Microsecond), "999 ms"},
		{durationText(1500 * time.Microsecond), "1.5 ms"},
		{digits(999.9), "1,000"},
	} {
		if c.got != c.want || strings.Contains(c.got, "e+") {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
