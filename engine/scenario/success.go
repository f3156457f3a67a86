package scenario

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
)

var (
	criterionForm = regexp.MustCompile(`^\s*(<=|>=|<|>|=)?\s*(.+?)\s*$`)
	bytesForm     = regexp.MustCompile(`(?i)^([0-9.]+)\s*(B|[KMGT]I?B)$`)
	byteUnits     = map[string]float64{
		"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}
)

// success reads the success list: metric: comparison and bound.
func (r *reader) success(n *doc.Node) {
	units := engine.SuccessMetrics()
	n.Fields(slices.Sorted(maps.Keys(units))...)
	for _, e := range n.Entries() {
		unit, ok := units[e.Key.Text()]
		if !ok {
			continue // reported as an unknown key
		}
		c := engine.Criterion{Metric: e.Key.Text(), Text: e.Value.Text(), Op: "<="}
		if c.Metric == "agents_completed" {
			c.Op = ">=" // the only metric where more is better
		}
		m := criterionForm.FindStringSubmatch(c.Text)
		if m == nil {
			e.Value.Errorf("such as `< 5%`", "%q is not a bound", c.Text)
			continue
		}
		if m[1] != "" {
			c.Op = m[1]
		}
		if c.Bound, ok = parseBound(unit, m[2]); !ok {
			e.Value.Errorf(boundHints[unit], "%q is not a bound for %s", m[2], c.Metric)
			continue
		}
		r.s.Success = append(r.s.Success, c)
	}
}

var boundHints = map[engine.Unit]string{
	engine.UnitShare: "a share up to 100%, such as 5% or 0.05",
	engine.UnitTime:  "a time, such as 60s or 5m",
	engine.UnitBytes: "a size, such as 12GB",
	engine.UnitCount: "a number",
	engine.UnitMoney: "US dollars, such as 0.50",
}

func parseBound(unit engine.Unit, text string) (float64, bool) {
	scale := 1.0
	switch unit {
	case engine.UnitShare:
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			text, scale = strings.TrimSpace(percent), 0.01
		}
	case engine.UnitTime:
		d, err := doc.ParseDuration(text)
		return d.Seconds(), err == nil
	case engine.UnitBytes:
		m := bytesForm.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		text, scale = m[1], byteUnits[strings.ToUpper(m[2])]
	case engine.UnitCount:
	case engine.UnitMoney:
		text = strings.TrimSpace(strings.TrimPrefix(text, "$"))
	}
	f, err := strconv.ParseFloat(text, 64)
	f *= scale
	return f, err == nil && f >= 0 && !math.IsInf(f, 0) && (unit != engine.UnitShare || f <= 1)
}
