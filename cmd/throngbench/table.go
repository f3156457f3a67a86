package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/machine"
)

// measured is all that was measured, as it is kept for a later comparison.
type measured struct {
	Machine string
	Rounds  int
	Rows    []measuredRow
}

type measuredRow struct {
	Name, What, Note string
	Shown            []string // the figures of the table, in their order
	Ratios           []measuredRatio
	Sides            []measuredSide
}

type measuredRatio struct {
	Name      string
	Must, Aim float64
	Less      bool
	Value     *spread // nil where a side is missing
}

type measuredSide struct {
	Name, Version, Problem string
	Figures                map[string]spread
}

// spread is a median with the least and the most of the rounds. In JSON it is these three.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s to %s)", figure(s.median), figure(s.least), figure(s.most))
}

// MarshalJSON is part of [json.Marshaler].
func (s spread) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]float64{s.median, s.least, s.most})
}

// UnmarshalJSON is part of [json.Unmarshaler].
func (s *spread) UnmarshalJSON(text []byte) error {
	var all [3]float64
	err := json.Unmarshal(text, &all)
	s.median, s.least, s.most = all[0], all[1], all[2]
	return err
}

// figure shows three digits that count, and thousands apart.
func figure(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return fmt.Sprint(v)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	text := fmt.Sprintf("%.*f", max(digits, 0), v)
	whole, fraction, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// measured sums the rounds of a line up.
func (l line) measured() measuredRow {
	m := measuredRow{Name: l.name, What: l.what, Note: l.note, Shown: l.shown}
	for _, r := range l.ratios {
		of := measuredRatio{Name: r.name, Must: r.must, Aim: r.aim, Less: r.less}
		var values []float64
		for _, all := range l.rounds {
			if v, ok := r.of(all); ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			s := spreadOf(values)
			of.Value = &s
		}
		m.Ratios = append(m.Ratios, of)
	}
	for i, s := range l.sides {
		of := measuredSide{Name: s.name, Version: l.versions[i], Figures: map[string]spread{}}
		if l.problems[i] != nil {
			of.Problem = l.problems[i].Error()
		}
		values := map[string][]float64{}
		for _, all := range l.rounds {
			for name, v := range all[i] {
				values[name] = append(values[name], v)
			}
		}
		for name, v := range values {
			of.Figures[name] = spreadOf(v)
		}
		m.Sides = append(m.Sides, of)
	}
	return m
}

// verdict says which of its bounds a ratio reaches.
func (r measuredRatio) verdict() string {
	if r.Value == nil {
		return "not measured"
	}
	reaches := func(bound float64) bool {
		if r.Less {
			return r.Value.median <= bound
		}
		return r.Value.median >= bound
	}
	switch {
	case r.Aim != 0 && reaches(r.Aim):
		return "aim reached"
	case r.Must != 0 && !reaches(r.Must):
		return "**short**"
	case r.Must != 0:
		return "reached"
	case r.Aim != 0:
		return "short of the aim"
	}
	return ""
}

func (r measuredRatio) bound(v float64) string {
	switch {
	case v == 0:
		return ""
	case r.Less:
		return "≤ " + figure(v)
	}
	return "≥ " + figure(v)
}

// readMeasured reads what an earlier run kept.
func readMeasured(file string) (*measured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := new(measured)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// write writes the table, and its figures to a .json file next to it.
func (m measured) write(file string, before *measured) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	kept, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(strings.TrimSuffix(file, filepath.Ext(file))+".json", kept, 0o644); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(m.markdown(before)), 0o644)
}

// row returns a row by its name; m may be nil.
func (m *measured) row(name string) (r measuredRow) {
	if m != nil {
		if i := slices.IndexFunc(m.Rows, func(r measuredRow) bool { return r.Name == name }); i >= 0 {
			return m.Rows[i]
		}
	}
	return r
}

// ratio returns what a ratio came to, or "".
func (r measuredRow) ratio(name string) string {
	for _, of := range r.Ratios {
		if of.Name == name && of.Value != nil {
			return of.Value.String()
		}
	}
	return ""
}

// markdown writes the table with the machine, the versions, and the figures of every side; before may be nil.
func (m measured) markdown(before *measured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured\n\n%s. Each side ran %d times, in turn with the others and in a process of its own. A figure "+
		"is the median, with the least and the most behind it. A ratio is taken in each round, so what slows the machine "+
		"down slows down both; what it stands on is in the table of its row below.\n", m.Machine, m.Rounds)
	header := []string{"#", "What", "Ratio or figure", "Measured", "Must", "Aim", ""}
	if before != nil {
		fmt.Fprintf(&b, "\nBefore: %s.\n", before.Machine)
		header = slices.Insert(header, 3, "Before")
	}
	b.WriteString("\n")
	cells(&b, header)
	cells(&b, slices.Repeat([]string{"---"}, len(header)))
	for _, r := range m.Rows {
		number, what, old := r.Name, r.What, before.row(r.Name)
		for _, ratio := range r.Ratios {
			value := ""
			if ratio.Value != nil {
				value = ratio.Value.String()
			}
			all := []string{number, what, ratio.Name, value, ratio.bound(ratio.Must), ratio.bound(ratio.Aim), ratio.verdict()}
			if before != nil {
				all = slices.Insert(all, 3, old.ratio(ratio.Name))
			}
			cells(&b, all)
			number, what = "", ""
		}
	}
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "\n## %s. %s\n\n", r.Name, r.What)
		if r.Note != "" {
			fmt.Fprintf(&b, "%s\n\n", r.Note)
		}
		r.figures(&b, before.row(r.Name))
	}
	return b.String()
}

// figures writes what each side gave, and what ours gave before.
func (r measuredRow) figures(b *strings.Builder, old measuredRow) {
	cells(b, append([]string{""}, r.Shown...))
	cells(b, slices.Repeat([]string{"---"}, len(r.Shown)+1))
	for i, s := range r.Sides {
		s.cells(b, "", r.Shown)
		if i == 0 && len(old.Sides) > 0 && old.Sides[0].Name == s.Name {
			old.Sides[0].cells(b, ", before", r.Shown)
		}
	}
}

func (s measuredSide) cells(b *strings.Builder, when string, shown []string) {
	all := []string{strings.TrimSpace(s.Name+" "+s.Version) + when}
	for _, name := range shown {
		text := ""
		if v, ok := s.Figures[name]; ok {
			text = v.String()
		}
		all = append(all, text)
	}
	if s.Problem != "" && len(all) > 1 {
		all[1] = strings.TrimSpace(all[1] + " not measured: " + s.Problem)
	}
	cells(b, all)
}

// cells writes a line of a table.
func cells(b *strings.Builder, all []string) {
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, text := range all {
		b.WriteString("| " + escape.Replace(text) + " ")
	}
	b.WriteString("|\n")
}

// measuredOn describes the machine and the revision that was measured.
func measuredOn(ctx context.Context) string {
	parts := []string{time.Now().UTC().Format(time.DateOnly), "revision " + revision(ctx), runtime.Version()}
	system, processor := machine.Platform(ctx)
	if system != "" {
		parts = append(parts, system+" "+runtime.GOARCH)
	}
	cores := fmt.Sprintf("%d cores", runtime.NumCPU())
	if processor != "" {
		cores += " of " + processor
	}
	parts = append(parts, cores)
	if total := machine.TotalMemory(); total > 0 {
		parts = append(parts, fmt.Sprintf("%d GiB", total>>30))
	}
	return strings.Join(parts, ", ")
}

// revision is the commit this program was built of.
func revision(ctx context.Context) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) > 12 {
				return s.Value[:12]
			}
		}
	}
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	return "unknown"
}
