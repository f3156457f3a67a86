package retrieval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// compact returns a vector as it is kept.
func compact(t testing.TB, numbers ...float32) []byte {
	t.Helper()
	v, err := Compact(numbers, 7)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRankByHand compares a ranking with scores that were computed by hand.
//
// The query is (1, 0). The cosines of the notes are 1, 0, 0.6 and -1; scaled from -1 to 1: 1, 0.5, 0.8, 0. Their ages are 2, 0, 1 and 3;
// with a decay of 0.5, recency is 0.25, 1, 0.5 and 0.125; scaled from 0.125 to 1: 1/7, 1, 3/7, 0. Importance is 2, none, 6 and 10: scaled
// from 2 to 10: 0, 0 because it has none, 0.5, 1.
func TestRankByHand(t *testing.T) {
	query := compact(t, 127, 0)
	all := []Candidate{
		{Vector: compact(t, 127, 0), Age: 2, Importance: 2, Rated: true},
		{Vector: compact(t, 0, 127), Age: 0},
		{Vector: compact(t, 93, 124), Age: 1, Importance: 6, Rated: true},
		{Vector: compact(t, -127, 0), Age: 3, Importance: 10, Rated: true},
	}
	const third = 93.0 / 155 // 93, 124 and 155 are a Pythagorean triple: 0.6
	for _, tt := range []struct {
		w    Weights
		top  int
		want string
	}{
		{Weights{1, 0, 0, 0.5}, 4, "0:1.000 2:0.817 1:0.500 3:0.000"},
		{Weights{0, 1, 0, 0.5}, 4, "1:1.000 2:0.429 0:0.143 3:0.000"},
		{Weights{0, 0, 1, 0.5}, 4, "3:1.000 2:0.500 1:0.000 0:0.000"}, // of equals, the later one is first
		{Weights{1, 1, 1, 0.5}, 3, "2:1.745 1:1.500 0:1.143"},
		{Weights{1, 1, 2, 0.5}, 1, "2:2.245"},
		{Weights{0, 0, 0, 0.5}, 9, "3:0.000 2:0.000 1:0.000 0:0.000"},
		{Weights{0, 1, 0, 1}, 2, "3:0.500 2:0.500"}, // nothing decays: the part is the same for all
	} {
		var got []string
		for _, s := range Rank(all, query, tt.w, tt.top) {
			got = append(got, fmt.Sprintf("%d:%.3f", s.At, s.Score))
		}
		want := tt.want
		if tt.w.Similarity > 0 { // 124 is kept as 127, and 93 as 95
			shift := 95/math.Sqrt(95*95+127*127)/2 + 0.5
			want = strings.NewReplacer("2:0.817", fmt.Sprintf("2:%.3f", shift), "2:1.745", fmt.Sprintf("2:%.3f", shift+3.0/7+0.5),
				"2:2.245", fmt.Sprintf("2:%.3f", shift+3.0/7+1)).Replace(want)
			if math.Abs(shift-0.5-third/2) > 0.003 {
				t.Errorf("a kept vector moves the cosine 0.6 to %v", 2*shift-1)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: %s, want %s", tt.w, got, want)
		}
	}
	if got := Rank(nil, query, Weights{1, 1, 1, 0.9}, 3); len(got) != 0 {
		t.Errorf("%v of no notes", got)
	}
}

// TestRankIsThatOfFloats checks that ranking kept vectors recalls nearly the notes that exact vectors would, and how far cosines move.
func TestRankIsThatOfFloats(t *testing.T) {
	const notes, size, top = 300, 256, 5
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() []float32 {
		v := make([]float32, size)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	same, furthest, sum := 0, 0.0, 0.0
	const queries = 20
	for range queries {
		q := draw()
		all, exact := make([]Candidate, notes), make([]float64, notes)
		for i := range all {
			v := draw()
			for k := range v { // so that some notes are near
				v[k] += q[k] * float32(i) / notes
			}
			all[i].Vector, exact[i] = compact(t, v...), cosine(q, v)
			moved := math.Abs(Cosine(compact(t, q...), all[i].Vector) - exact[i])
			furthest, sum = max(furthest, moved), sum+moved
		}
		order := make([]int, notes)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, exact[b]-exact[a])) })
		for _, s := range Rank(all, compact(t, q...), Weights{Similarity: 1, Decay: 1}, top) {
			if slices.Contains(order[:top], s.At) {
				same++
			}
		}
	}
	if mean := sum / queries / notes; mean > 0.0006 || furthest > 0.003 || furthest == 0 {
		t.Errorf("a cosine moves by %v on average, and by %v at most", mean, furthest)
	}
	if same < queries*top*97/100 {
		t.Errorf("%d of %d notes are those that exact vectors recall", same, queries*top)
	}
}

func cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i])*float64(b[i]), x+float64(a[i])*float64(a[i]), y+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}

func TestBadVectors(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, tt := range map[string]struct {
		v    []float32
		want string
	}{
		"zeros":          {[]float32{0, 0}, "only zeros"},
		"nothing":        {nil, "only zeros"},
		"not a number":   {[]float32{1, float32(math.NaN())}, "number 2 of an embedding is NaN"},
		"infinite":       {[]float32{-inf}, "number 1 of an embedding is -Inf"},
		"too long":       {make([]float32, MostNumbers+1), "16385 numbers"},
		"very small":     {[]float32{1e-38, 2e-38}, ""},
		"very large":     {[]float32{3e38, -3e38}, ""},
		"one number":     {[]float32{-3}, ""},
		"the most there": {slices.Repeat([]float32{1}, MostNumbers), ""},
	} {
		v, err := Compact(tt.v, 1)
		if tt.want == "" && (err != nil || math.Abs(Cosine(v, v)-1) > 1e-9 || Numbers(v, 1) != len(tt.v)) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	for name, v := range map[string][]byte{"none": nil, "cut": {1, 0, 0}, "only a head": {7, 0, 0, 0, 1, 0, 0, 0}, "no direction": {7, 0, 0, 0, 0, 0, 0, 0, 0}, "another space": compact(t, 1, 2)} {
		space := uint32(7)
		if name == "another space" {
			space = Space("another")
		}
		if n := Numbers(v, space); n != 0 {
			t.Errorf("%s: a vector of %d numbers", name, n)
		}
	}
}

// TestKept compares Commit and Changes with a map: what is kept belongs to notes that exist, with their latest cycles and vectors.
func TestKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var notes [][]byte
		var all, there []Kept
		want := map[uint64]Kept{}
		for cycle := range rapid.IntRange(1, 10).Draw(t, "cycles") {
			replaced := rapid.IntRange(0, 4).Draw(t, "replaced") == 0
			if replaced {
				notes = nil
			}
			var changes []Kept
			for range rapid.IntRange(0, 4).Draw(t, "notes") {
				note := []byte(rapid.StringMatching("[a-f]").Draw(t, "note"))
				k := Kept{Note: Key(note), Cycle: cycle, Used: cycle}
				if rapid.Bool().Draw(t, "embedded") {
					k.Vector = []byte(rapid.StringMatching("[x-z]").Draw(t, "vector"))
				}
				notes, changes = append(notes, note), append(changes, k)
			}
			changes = List(changes)
			drop := min(rapid.IntRange(0, 3).Draw(t, "drop"), len(notes))
			dropped, left := notes[:drop], notes[drop:]
			for _, c := range changes {
				if had, ok := want[c.Note]; ok && c.Vector == nil {
					c.Vector = had.Vector
				}
				want[c.Note] = c
			}
			for key := range want {
				if (replaced || slices.ContainsFunc(dropped, func(n []byte) bool { return Key(n) == key })) && !slices.ContainsFunc(left, func(n []byte) bool { return Key(n) == key }) {
					delete(want, key)
				}
			}
			before := fmt.Sprint(all)
			now := Commit(all, changes, dropped, left, replaced)
			if fmt.Sprint(all) != before {
				t.Fatal("the list before was changed")
			}
			if len(now) != len(want) || !slices.IsSortedFunc(now, func(a, b Kept) int { return int(a.Note>>1) - int(b.Note>>1) }) {
				t.Fatalf("%v, want %v", now, want)
			}
			for _, k := range now {
				if fmt.Sprint(want[k.Note]) != fmt.Sprint(k) {
					t.Fatalf("%v, want %v", k, want[k.Note])
				}
			}
			if changes, gone, ok := Changes(there, now); ok {
				there = Merge(Without(there, gone), changes)
			} else {
				there = now
			}
			if fmt.Sprint(there) != fmt.Sprint(now) {
				t.Fatalf("%v elsewhere, %v here", there, now)
			}
			all, notes = now, left
		}
	})
}

// TestChangesDoNotRepeatVectors checks that a note that was recalled again does not send its embedding again.
func TestChangesDoNotRepeatVectors(t *testing.T) {
	vector := compact(t, 1, 2, 3)
	was := []Kept{{1, 0, 0, vector}, {2, 1, 1, vector}, {4, 0, 0, nil}}
	now := []Kept{{1, 0, 5, vector}, {2, 1, 1, vector}, {3, 5, 5, vector}}
	changes, gone, ok := Changes(was, now)
	if got, want := fmt.Sprint(changes, gone, ok), fmt.Sprint([]Kept{{1, 0, 5, nil}, {3, 5, 5, vector}}, []uint64{4}, true); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, _, ok := Changes(now, was); ok {
		t.Error("a cycle cannot become earlier")
	}
}

func BenchmarkRank(b *testing.B) {
	for _, size := range []int{256, 1536} {
		for _, notes := range []int{100, 1000, 5000} {
			b.Run(fmt.Sprintf("%d notes of %d numbers", notes, size), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				all := make([]Candidate, notes)
				for i := range all {
					v := make([]float32, size)
					for k := range v {
						v[k] = float32(r.NormFloat64())
					}
					all[i] = Candidate{Vector: compact(b, v...), Age: i}
				}
				for b.Loop() {
					Rank(all, all[0].Vector, Weights{1, 1, 1, 0.995}, 5)
				}
			})
		}
	}
}
