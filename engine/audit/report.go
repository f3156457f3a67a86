package audit

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Figure is a figure that was recorded, beside what the journal says of it: one of the run, or one that each of many
// rows has.
type Figure struct {
	Group, Name string
	// Recorded and Recomputed are in words: of the first row that differs, else of the first.
	Recorded, Recomputed string
	Values               int    // how many were compared
	Differ               int    // of them
	Where                string // the first rows that differ; "" where there is one only, or none differs
	Bound                string // how near they must be; "" is equal
	Alone                bool   // recorded only: nothing in the journal tells it
}

// mostRows is of how many rows that differ a figure names the place.
const mostRows = 3

// Report is what an audit found. The zero value is empty and ready.
type Report struct {
	Run     engine.RunID
	Figures []Figure // in the order in which they were met

	index map[string]int
}

// Equal reports whether nothing differs.
func (r *Report) Equal() bool {
	for i := range r.Figures {
		if r.Figures[i].Differ > 0 {
			return false
		}
	}
	return true
}

// Counts returns how many values were recomputed, how many of them differ, and how many figures are recorded only.
func (r *Report) Counts() (recomputed, differ, alone int) {
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Alone {
			alone++
			continue
		}
		recomputed += f.Values
		differ += f.Differ
	}
	return recomputed, differ, alone
}

// Summary says in a line what was found.
func (r *Report) Summary() string {
	recomputed, differ, alone := r.Counts()
	text := engine.FormatCount(int64(recomputed)) + " figures recomputed, all equal"
	if differ > 0 {
		text = fmt.Sprintf("%s figures recomputed, %s of them differ", engine.FormatCount(int64(recomputed)), engine.FormatCount(int64(differ)))
	}
	return text + "; " + engine.FormatCount(int64(alone)) + " recorded only"
}

// Add takes in what another audit of the run found.
func (r *Report) Add(other *Report) {
	for _, f := range other.Figures {
		*r.figure(f.Group, f.Name) = f
	}
}

// figure finds a figure, or begins it.
func (r *Report) figure(group, name string) *Figure {
	key := group + "\x00" + name
	i, ok := r.index[key]
	if !ok {
		if r.index == nil {
			r.index = map[string]int{}
		}
		i = len(r.Figures)
		r.index[key] = i
		r.Figures = append(r.Figures, Figure{Group: group, Name: name})
	}
	return &r.Figures[i]
}

// Check takes in that a value of a figure was compared, recorded with recomputed. where says which row it is of; "" is that there is one only.
func (r *Report) Check(group, name, where string, ok bool, recorded, recomputed any) {
	f := r.figure(group, name)
	f.Values++
	if ok && f.Values > 1 {
		return
	}
	if f.Differ == 0 {
		f.Recorded, f.Recomputed = words(recorded), words(recomputed)
	}
	if ok {
		return
	}
	f.Differ++
	if where != "" && f.Differ <= mostRows {
		f.Where = strings.TrimPrefix(f.Where+"; "+where, "; ")
	}
}

// mostWords is how many letters of a value are told.
const mostWords = 60

// words is a value for people.
func words(v any) string {
	text := fmt.Sprint(v)
	if runes := []rune(text); len(text) > mostWords && len(runes) > mostWords {
		return string(runes[:mostWords]) + "…"
	}
	return text
}

// alone lists a figure that nothing in the journal tells.
func (r *Report) alone(group, name string, recorded any) {
	f := r.figure(group, name)
	f.Recorded, f.Alone, f.Values = words(recorded), true, f.Values+1
}

// equal compares a value that must be the same.
func equal[T comparable](r *Report, group, name, where string, recorded, recomputed T) {
	r.Check(group, name, where, recorded == recomputed, recorded, recomputed)
}

// Group is the figures of a kind together.
type Group struct {
	Name           string
	Values, Differ int // compared; of them
}

// Groups sums the figures up, in the order in which they were met.
func (r *Report) Groups() (all []Group) {
	index := map[string]int{}
	for i := range r.Figures {
		f := &r.Figures[i]
		at, ok := index[f.Group]
		if !ok {
			at = len(all)
			index[f.Group], all = at, append(all, Group{Name: f.Group})
		}
		if !f.Alone {
			all[at].Values += f.Values
			all[at].Differ += f.Differ
		}
	}
	return all
}
