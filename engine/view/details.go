package view

import (
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
)

// Unit is the unit of a chart's values.
type Unit uint8

// The units. Values in Percent go to 100.
const (
	Number Unit = iota
	Percent
	Bytes
	Seconds
)

// Chart has the values of a run over time.
type Chart struct {
	Title, About string
	Unit         Unit
	Lines        []string
	Times        []float64   // Unix seconds, ascending
	Values       [][]float64 // by line; NaN if unknown
}

// Curves are the charts of a run over several times, which all charts share. Simulated and Zone are nil without a calendar.
type Curves struct {
	Charts    []Chart
	Elapsed   []float64 // seconds, by point
	Simulated []float64 // Unix seconds, by point
	Zone      *time.Location
}

// Details are what is shown of a run in addition to its record and totals. The screen Results and the report have the same.
type Details struct {
	Origin        string // of a fork
	Outcomes      *outcomes.Outcomes
	Charts        []Chart
	Steps         []StepLine
	Services      Table
	Cycles        Table
	EarlierCycles string // how many cycles Cycles leaves out, and where they are
	Facts         [][2]string
	Parameters    [][2]string
	Settings      [][2]string
	Files         []File
	Population    *Population // nil unless the agents were drawn from a file
}

// File is a file of a scenario. Text is empty if it is large or binary.
type File struct{ Name, Size, Text string }

// FormatNumber formats a number from the data of events with three digits, or with all digits before the decimal point.
func FormatNumber(v float64) string {
	switch {
	case math.Abs(v) >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case math.Abs(v) >= 999.5:
		return engine.FormatCount(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
