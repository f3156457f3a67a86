package value_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script/value"
)

// TestDecimals reads numbers with a point, of every length, as strconv does, to the last bit.
func TestDecimals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	texts := []string{"0.1", "-0.1", "-0.0", "0.000000000000001", "0.0000000000000001", "999999999999999.9", "9007199254740993.5", "0.3e1", "123456789012345.25"}
	for range 20_000 {
		text := strconv.FormatUint(random.Uint64()>>random.IntN(64), 10) + "."
		for range 1 + random.IntN(18) {
			text += string(rune('0' + random.IntN(10)))
		}
		if random.IntN(2) == 0 {
			text = "-" + text
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.DecodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f, ok := starlark.AsFloat(got)
		if !ok || math.Float64bits(f) != math.Float64bits(want) && f+want != 0 { // 0 has no sign
			t.Errorf("%s is read as %v, want %v", text, got, want)
		}
	}
}
