// Package fraction reads and writes JSON numbers as exact fractions.
package fraction

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// Finest is the largest number of decimals that a number may need to fit between its bounds.
const Finest = 400

// Text writes a decimal fraction exactly.
func Text(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	digits, _ := r.FloatPrec()
	return strings.TrimRight(r.FloatString(digits), "0")
}

// Read reads a JSON number as a fraction. It rejects numbers of more than 300 digits, which would need much memory.
func Read(text string) (*big.Rat, error) {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent != "" {
		if n, err := strconv.Atoi(exponent); err != nil || n < -Finest/2 || n > Finest/2 {
			return nil, errors.New("the number is too large or too small")
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > Finest/2 {
		return nil, errors.New("not a number")
	}
	return r, nil
}
