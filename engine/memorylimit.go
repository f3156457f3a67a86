package engine

import (
	"math"
	"strconv"
	"strings"
)

// MemoryLimit is an amount of memory: a fraction of the machine's, or bytes if Share is 0. The zero value means unlimited.
type MemoryLimit struct {
	Share float64 `json:"share,omitempty"`
	Bytes int64   `json:"bytes,omitempty"`
}

const memoryHint = "a share such as 25%, an amount such as 2GB, or off"

// memoryUnits are decimal, as [FormatBytes] writes them.
var memoryUnits = []struct {
	name  string
	bytes float64
}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}

// ParseMemory parses a percentage such as 25%, an amount such as 2GB or 512 MB, or off.
func ParseMemory(text string) (MemoryLimit, error) {
	said := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	wrong := func() (MemoryLimit, error) {
		return MemoryLimit{}, &FieldError{"memory-budget", strconv.Quote(text) + " is not an amount of memory", memoryHint}
	}
	if said == "OFF" {
		return MemoryLimit{}, nil
	}
	if share, ok := strings.CutSuffix(said, "%"); ok {
		percent, err := strconv.ParseFloat(share, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return wrong()
		}
		return MemoryLimit{Share: percent / 100}, nil
	}
	for _, unit := range memoryUnits {
		amount, ok := strings.CutSuffix(said, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(amount, 64)
		if err != nil || !(n > 0) || n*unit.bytes >= math.MaxInt64 || n*unit.bytes < 1 {
			return wrong()
		}
		return MemoryLimit{Bytes: int64(n * unit.bytes)}, nil
	}
	return wrong()
}

// String formats the limit for ParseMemory.
func (m MemoryLimit) String() string {
	switch {
	case m.Share > 0:
		return strconv.FormatFloat(100*m.Share, 'g', 6, 64) + "%"
	case m.Bytes == 0:
		return "off"
	}
	unit := memoryUnits[0]
	for _, u := range memoryUnits {
		if float64(m.Bytes) >= u.bytes {
			unit = u
		}
	}
	return strconv.FormatFloat(float64(m.Bytes)/unit.bytes, 'f', -1, 64) + unit.name
}

// Of returns the limit in bytes on a machine with total bytes of memory; 0 means unlimited.
func (m MemoryLimit) Of(total uint64) int64 {
	if m.Share > 0 {
		return int64(m.Share * float64(total))
	}
	return m.Bytes
}
