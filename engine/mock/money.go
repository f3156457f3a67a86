package mock

import "strconv"

// cents is an amount of money; a coupon's value in percent uses it too, as hundredths of a percent.
type cents int64

const wholePercent cents = 100 // one percent of a coupon's value

// percent is the given hundredths of percent of c, rounded half up. Both are at least 0.
func (c cents) percent(value cents) cents { return (c*value + 5_000) / 10_000 }

// bogo is half of c times the given hundredths of percent, rounded half up. Both are at least 0.
func (c cents) bogo(value cents) cents { return (c*value + 10_000) / 20_000 }

// append writes c as a JSON number with two decimals: 12.50.
func (c cents) append(b []byte) []byte {
	if c < 0 {
		b, c = append(b, '-'), -c
	}
	b = strconv.AppendInt(b, int64(c/100), 10)
	return append(b, '.', byte('0'+c/10%10), byte('0'+c%10))
}

// String is c as people write it: 12.50.
func (c cents) String() string { return string(c.append(nil)) }
