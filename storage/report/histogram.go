package report

import (
	"html/template"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// spread is the part of a histogram that the page shows.
type spread interface {
	Count() int64
	Quantile(q float64) time.Duration
	Max() time.Duration
	Each(f func(from, to time.Duration, n int64))
}

// histogramView is the distribution of session times; empty without sessions.
type histogramView struct {
	Picture template.HTML
	Text    string
}

const (
	// binsPerDecade is the number of bars per decade.
	binsPerDecade = 10
	// leastTime is the time below which durations count as 0.
	leastTime = 1e-6
)

// bins are the counts of consecutive bars on a logarithmic axis.
type bins struct {
	first  int
	counts []int64
	most   int64
}

func trashed(h spread) (b bins) {
	h.Each(func(from, to time.Duration, n int64) {
		at := place((from + to).Seconds() / 2)
		whole := int(math.Floor(at))
		if b.counts == nil {
			b.first = whole
		}
		for len(b.counts) <= whole-b.first {
			b.counts = append(b.counts, 0)
		}
		b.counts[whole-b.first] += n
		b.most = max(b.most, b.counts[whole-b.first])
	})
	return b
}

// place returns the position of a duration on the axis, in bars.
func place(seconds float64) float64 { return math.Log10(max(seconds, leastTime)) * binsPerDecade }

func newHistogram(h spread) (v histogramView) {
	if h.Count() == 0 {
		return v
	}
	b := trashed(h)
	x := func(at float64) float64 { return 100 * (at - float64(b.first)) / float64(len(b.counts)) }
	s := &svg{}
	s.open("Session times", plotHeight+textHeight)
	top, ticks := scale(float64(b.most), wholes.steps)
	for _, t := range ticks {
		y := plotHeight * (1 - t/top)
		s.put(`<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/><text class="end" x="-6" y="%.1f">%s</text>`, y, y, y+4, esc(wholes.text(t)))
	}
	for i, n := range b.counts {
		if n > 0 {
			height := plotHeight * float64(n) / top
			s.put(`<rect class="bar" x="%.2f%%" width="%.2f%%" y="%.1f" height="%.1f"><title>%s to %s: %s sessions</title></rect>`, x(float64(b.first+i)), 92/float64(len(b.counts)),
				plotHeight-height, height, esc(edge(b.first+i)), esc(edge(b.first+i+1)), engine.FormatCount(n))
		}
	}
	for _, t := range decades(&b) {
		s.put(`<text class="mid" x="%.2f%%" y="%d">%s</text>`, x(place(t)), plotHeight+16, esc(durations.text(t)))
	}
	last := -100.0
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}} {
		d := h.Quantile(q.q)
		at := min(max(x(place(d.Seconds())), 0), 100)
		s.rule("mark", at, q.name+" "+engine.FormatDuration(d))
		shift := 0
		if at-last < 5 { // otherwise the names would overlap
			shift = 26
		}
		s.put(`<text class="mid number" x="%.2f%%" dx="%d" y="-4">%s</text>`, at, shift, q.name)
		last = at
	}
	s.put(`</svg>`)
	return histogramView{s.done(), "of " + engine.FormatCount(h.Count()) + " sessions, all takes; the axis is logarithmic"}
}

func edge(at int) string { return durations.text(math.Pow(10, float64(at)/binsPerDecade)) }

// decades returns the durations below the bars: 1, 2 and 5 of each decade, or only 1 if the range is wide.
func decades(b *bins) (all []float64) {
	steps := []float64{1, 2, 5}
	switch n := len(b.counts); {
	case n > 4*binsPerDecade:
		steps = steps[:1]
	case n > 2*binsPerDecade:
		steps = []float64{1, 3}
	case n < binsPerDecade/2:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 6, 8}
	}
	from, to := float64(b.first), float64(b.first+len(b.counts))
	for e := math.Floor(from / binsPerDecade); e <= math.Ceil(to/binsPerDecade); e++ {
		for _, s := range steps {
			t := s * math.Pow(10, e)
			if at := place(t); at >= from-1e-9 && at <= to+1e-9 {
				all = append(all, t)
			}
		}
	}
	return all
}
