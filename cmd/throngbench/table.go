package main

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/mem"
)

// table is what was measured, for a reader.
type table struct {
	rounds int
	lines  []line
}

// spread is a median with the least and the most of the rounds.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

func (s spread) String() string {
	return fmt.Sprintf("%s (%s to %s)", figure(s.median), figure(s.least), figure(s.most))
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

// markdown writes the table with the machine, the versions, and the figures of every side.
func (t table) markdown(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured\n\n%s. Each side ran %d times, in turn with the others and in a process of its own; a figure "+
		"is the median with the least and the most.\nA ratio is taken in each round.\n\n", machine(ctx), t.rounds)
	b.WriteString("| # | What | Measured | Must | Aim | |\n|---|---|---|---|---|---|\n")
	for _, l := range t.lines {
		for _, r := range l.ratios {
			measured, verdict := l.judge(r)
			fmt.Fprintf(&b, "| %s | %s | %s: %s | %s | %s | %s |\n", l.name, l.what, r.name, measured, bound(r.must, r.less), bound(r.aim, r.less), verdict)
		}
	}
	for _, l := range t.lines {
		fmt.Fprintf(&b, "\n## %s. %s\n\n", l.name, l.what)
		if l.note != "" {
			fmt.Fprintf(&b, "%s\n\n", l.note)
		}
		b.WriteString(l.figures())
	}
	return b.String()
}

// judge says what a ratio came to, and what of its aims that reaches.
func (l line) judge(r ratio) (measured, verdict string) {
	var values []float64
	for _, all := range l.rounds {
		if v, ok := r.of(all); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return "not measured", "?"
	}
	s := spreadOf(values)
	reaches := func(bound float64) bool {
		if r.less {
			return s.median <= bound
		}
		return s.median >= bound
	}
	switch {
	case r.aim != 0 && reaches(r.aim):
		verdict = "aim"
	case r.must != 0 && reaches(r.must):
		verdict = "reached"
	case r.must != 0:
		verdict = "**short**"
	}
	return s.String(), verdict
}

func bound(v float64, less bool) string {
	switch {
	case v == 0:
		return ""
	case less:
		return "≤ " + figure(v)
	}
	return "≥ " + figure(v)
}

// figures is the table of what each side gave.
func (l line) figures() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(l.shown, " | "), strings.Repeat("---|", len(l.shown)))
	for i, s := range l.sides {
		fmt.Fprintf(&b, "| %s |", strings.TrimSpace(s.name+" "+l.versions[i]))
		for _, name := range l.shown {
			var values []float64
			for _, all := range l.rounds {
				if v, ok := all[i][name]; ok {
					values = append(values, v)
				}
			}
			switch {
			case l.missing[i] != nil:
				fmt.Fprintf(&b, " %v |", l.missing[i])
			case len(values) == 0:
				b.WriteString(" |")
			default:
				fmt.Fprintf(&b, " %v |", spreadOf(values))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// machine is what all was measured on, and what was measured.
func machine(ctx context.Context) string {
	parts := []string{time.Now().UTC().Format(time.DateOnly), "revision " + revision(ctx), runtime.Version()}
	if h, err := host.InfoWithContext(ctx); err == nil {
		parts = append(parts, strings.TrimSpace(h.Platform+" "+h.PlatformVersion)+" "+runtime.GOARCH)
	}
	name := ""
	if c, err := cpu.InfoWithContext(ctx); err == nil && len(c) > 0 {
		name = " of " + c[0].ModelName
	}
	parts = append(parts, fmt.Sprintf("%d cores%s", runtime.NumCPU(), name))
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		parts = append(parts, fmt.Sprintf("%d GiB", m.Total>>30))
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
