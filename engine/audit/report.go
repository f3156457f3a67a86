package audit

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Figure is a recorded figure and its recomputed counterpart: of the run as a whole, or of each of many rows.
type Figure struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// Recorded and Recomputed are the values in words: of the first row that differs or, if none differs, of the first row.
	Recorded   string `json:"recorded"`
	Recomputed string `json:"recomputed,omitempty"`

	Values int    `json:"values"`                  // number compared
	Differ int    `json:"differ"`                  // of these, different
	Where  string `json:"where,omitempty"`         // the first rows that differ; "" for a single value, or if none differs
	Bound  string `json:"within,omitempty"`        // the allowed difference; "" for none
	Alone  bool   `json:"recorded_only,omitempty"` // the journal does not contain it
}

// mostRows is the number of differing rows that a figure lists.
const mostRows = 3

// Report is the result of an audit. The zero value is empty and ready to use.
type Report struct {
	Run     engine.RunID
	Figures []Figure // in order of first appearance

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

// Counts returns the number of values recomputed, how many of them differ, and the number of figures that are recorded only.
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

// Summary describes the result in one line.
func (r *Report) Summary() string {
	recomputed, differ, alone := r.Counts()
	text := engine.FormatCount(int64(recomputed)) + " figures recomputed, all equal"
	if differ > 0 {
		text = fmt.Sprintf("%s figures recomputed, %s of them differ", engine.FormatCount(int64(recomputed)), engine.FormatCount(int64(differ)))
	}
	return text + "; " + engine.FormatCount(int64(alone)) + " recorded only"
}

// Add adds the result of another audit of the run.
func (r *Report) Add(other *Report) {
	for _, f := range other.Figures {
		*r.figure(f.Group, f.Name) = f
	}
}

// figure returns a figure, adding it if necessary.
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

// Check compares a recorded value of a figure with the recomputed one. where identifies its row; "" if there is only one.
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

// mostWords is the largest length of a value in a report.
const mostWords = 60

// words formats a value for display.
func words(v any) string {
	text := fmt.Sprint(v)
	if runes := []rune(text); len(text) > mostWords && len(runes) > mostWords {
		return string(runes[:mostWords]) + "…"
	}
	return text
}

// alone adds a figure that the journal does not contain.
func (r *Report) alone(group, name string, recorded any) {
	f := r.figure(group, name)
	f.Recorded, f.Alone, f.Values = words(recorded), true, f.Values+1
}

// equal compares values that must be the same.
func equal[T comparable](r *Report, group, name, where string, recorded, recomputed T) {
	r.Check(group, name, where, recorded == recomputed, recorded, recomputed)
}

// Group summarizes the figures of a group.
type Group struct {
	Name           string
	Values, Differ int // compared, and of these different
}

// Groups summarizes the figures by group, in order of first appearance.
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
