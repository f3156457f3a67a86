package draw

import (
	"math"
	"testing"
)

// TestKeysAreStable pins the random streams: a change here changes the results of all existing runs.
func TestKeysAreStable(t *testing.T) {
	got := Key{}.Int(7).Int(3).Int(41).Text("fill_cart[2].add_cart").Text("json").Source()
	want := []uint64{0x7b461c91a7032ebe, 0x11730847e24639b2}
	for i, w := range want {
		if g := got.Uint64(); g != w {
			t.Errorf("draw %d = %#x, want %#x", i, g, w)
		}
	}
}

func TestKeysTellTheirPartsApart(t *testing.T) {
	keys := map[[2]uint64]string{}
	add := func(name string, k Key) {
		hi, lo := k.Sum()
		if other, ok := keys[[2]uint64{hi, lo}]; ok {
			t.Errorf("%s and %s share a stream", name, other)
		}
		keys[[2]uint64{hi, lo}] = name
	}
	add("ab c", Key{}.Text("ab").Text("c"))
	add("a bc", Key{}.Text("a").Text("bc"))
	add("abc", Key{}.Text("abc"))
	add("1 2", Key{}.Int(1).Int(2))
	add("2 1", Key{}.Int(2).Int(1))
	add("1", Key{}.Int(1))
	add("0", Key{}.Int(0))
	add("nothing", Key{})
}

func TestDistributions(t *testing.T) {
	const n = 200_000
	var sum, normal, square float64
	counts := make([]int, 7)
	for i := range n {
		s := Key{}.Int(uint64(i)).Source()
		sum += s.Float64()
		counts[s.IntN(7)]++
		z := s.Normal()
		normal += z
		square += z * z
	}
	if mean := sum / n; math.Abs(mean-0.5) > 0.005 {
		t.Errorf("mean of Float64 = %v, want 0.5", mean)
	}
	if mean := normal / n; math.Abs(mean) > 0.01 {
		t.Errorf("mean of Normal = %v, want 0", mean)
	}
	if v := square / n; math.Abs(v-1) > 0.02 {
		t.Errorf("variance of Normal = %v, want 1", v)
	}
	for i, c := range counts {
		if math.Abs(float64(c)-n/7.0) > 0.03*n/7 {
			t.Errorf("IntN(7) returned %d %d times out of %d", i, c, n)
		}
	}
}

func TestShuffleIsAPermutation(t *testing.T) {
	x := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	Key{}.Text("shuffle").Source().Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	seen := map[int]bool{}
	for _, v := range x {
		seen[v] = true
	}
	if len(seen) != len(x) {
		t.Errorf("shuffle lost elements: %v", x)
	}
}
