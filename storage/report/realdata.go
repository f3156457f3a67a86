package report

import (
	"fmt"
	"html/template"

	"github.com/throng-sim/throng/engine/validation"
)

// realData is the comparison with real data; without a head there is none.
type realData struct {
	File, Digest string
	Verdict      mark
	Table        table
	Measures     []realMeasure
	Method       string
}

// realMeasure is a measure with a picture of both distributions.
type realMeasure struct {
	Sentence string
	Differs  bool
	Picture  template.HTML // "" if it was not compared
	Notes    []string
}

func newRealData(r *validation.Result) *realData {
	if r == nil {
		return nil
	}
	v := &realData{File: r.File, Digest: r.Digest, Verdict: mark{"good", r.Verdict()}, Table: table{Head: validation.Head()}, Method: r.Method()}
	if r.Differ() {
		v.Verdict.Tone = "warn"
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		v.Table.Rows = append(v.Table.Rows, row.Cells())
		v.Measures = append(v.Measures, realMeasure{row.Sentence(), row.Differs(), distributions(row), row.Notes})
	}
	return v
}

// distributions draws the shares of both sides next to each other.
func distributions(r *validation.Row) template.HTML {
	if !r.Compared() {
		return ""
	}
	most := 0.0
	for i := range r.Bins {
		real, run := r.Shares(&r.Bins[i])
		most = max(most, 100*real, 100*run)
	}
	s := &svg{}
	s.open(r.Column+": real data and run", plotHeight+textHeight)
	top, ticks := scale(most, wholes.steps)
	for _, t := range ticks {
		y := plotHeight * (1 - t/top)
		s.put(`<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/><text class="end" x="-6" y="%.1f">%s%%</text>`, y, y, y+4, esc(wholes.text(t)))
	}
	width := 100 / float64(len(r.Bins))
	every := 1 + (len(r.Bins)-1)/8 // so that names do not overlap
	for i := range r.Bins {
		b := &r.Bins[i]
		real, run := r.Shares(b)
		for k, of := range []struct {
			name, class string
			share       float64
		}{{"real data", "bar other", 100 * real}, {"run", "bar", 100 * run}} {
			height := plotHeight * of.share / top
			s.put(`<rect class="%s" x="%.2f%%" width="%.2f%%" y="%.1f" height="%.1f"><title>%s: %.1f%% of the %s</title></rect>`,
				of.class, width*(float64(i)+0.08+0.42*float64(k)), 0.4*width, plotHeight-height, height, esc(b.Label()), of.share, of.name)
		}
		if i%every == 0 {
			s.put(`<text class="mid" x="%.2f%%" y="%d">%s</text>`, width*(float64(i)+0.5), plotHeight+16, esc(short(b.Label())))
		}
	}
	s.put(`</svg>`)
	return s.done()
}

// short cuts a name that would not fit below its bars.
func short(name string) string {
	if letters := []rune(name); len(letters) > 14 {
		return fmt.Sprintf("%s…", string(letters[:13]))
	}
	return name
}
