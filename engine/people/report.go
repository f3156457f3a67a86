package people

import (
	"fmt"
	"math"
	"strings"
)

// Report describes a draw.
type Report struct {
	File       string     `json:"file"`
	SHA256     string     `json:"sha256"`
	SizeBytes  int64      `json:"size_bytes"`
	Rows       int64      `json:"rows"`        // of the file, as far as it was read
	Eligible   int64      `json:"eligible"`    // rows that could be drawn
	ZeroWeight int64      `json:"zero_weight"` // rows that could not, because their weight or a target is 0
	Taken      int        `json:"taken"`
	Sampled    bool       `json:"sampled"` // false takes the first rows
	Seed       uint64     `json:"seed"`
	Weight     string     `json:"weight"` // the column; "" weighs all rows equally
	Raking     *Raking    `json:"raking"` // nil without targets
	Marginals  []Marginal `json:"marginals"`
}

// Raking describes how the weights were fitted to the targets.
type Raking struct {
	Rounds int     `json:"rounds"`
	Gap    float64 `json:"gap"`    // the largest remaining difference of a share
	Lowest float64 `json:"lowest"` // the smallest and the largest factor of a weight; 1 is their mean
	Most   float64 `json:"most"`
}

// Marginal is the distribution of an attribute that has a target.
type Marginal struct {
	Attribute  string     `json:"attribute"`
	Categories []Category `json:"categories"`
}

// Category is one value of an attribute. Shares are from 0 to 1.
type Category struct {
	Name   string  `json:"name"`
	File   float64 `json:"file"` // of the weights in the file, of the rows that can be drawn
	Target float64 `json:"target"`
	Drawn  float64 `json:"drawn"`
	Count  int     `json:"count"` // of drawn rows
	// Margin is the half-width of the interval in which the drawn share lies in 95% of all draws, by the normal
	// approximation for independent rows.
	Margin float64 `json:"margin"`
}

// Off reports whether the drawn share differs from the target by more than chance explains in 95% of all draws.
func (c *Category) Off() bool { return math.Abs(c.Drawn-c.Target) > c.Margin }

// margin returns the half-width of a 95% interval of a share among n.
func margin(share float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return 1.959963984540054 * math.Sqrt(share*(1-share)/float64(n))
}

// String describes the draw in a line.
func (r *Report) String() string {
	if !r.Sampled {
		return fmt.Sprintf("%s of %s, in its order", counted(r.Taken, "row"), r.File)
	}
	text := fmt.Sprintf("%d of %s of %s", r.Taken, counted(r.Eligible, "row"), r.File)
	if r.Weight != "" {
		text += ", weighted by " + r.Weight
	}
	if r.Raking != nil {
		var all []string
		for _, m := range r.Marginals {
			all = append(all, m.Attribute)
		}
		text += ", raked to " + strings.Join(all, ", ")
	}
	return text + fmt.Sprintf(", seed %d", r.Seed)
}
