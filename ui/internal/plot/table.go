package plot

import (
	"math"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
)

// sheetText is a table as text: tab-separated columns, a row in each line.
type sheetText struct{ strings.Builder }

// add adds a row. Numbers have all their digits, and are empty if they are unknown.
func (t *sheetText) add(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			t.WriteByte('\t')
		}
		switch c := cell.(type) {
		case string:
			t.WriteString(c)
		case int:
			t.WriteString(strconv.Itoa(c))
		case float64:
			if !math.IsNaN(c) {
				t.WriteString(strconv.FormatFloat(c, 'g', -1, 64))
			}
		}
	}
	t.WriteByte('\n')
}

func (t *sheetText) bytes() []byte { return []byte(t.String()) }

// Table implements [chart.Kept]: a row for each mark.
func (r *Rows) Table() []byte {
	var t sheetText
	t.add("name", "figure", "value", "low", "high")
	for _, row := range r.rows {
		for i, m := range row.marks {
			figure := "value"
			if i < len(r.legend) {
				figure = r.legend[i].name
			}
			t.add(row.name, figure, m.value, m.low, m.high)
		}
	}
	return t.bytes()
}

func (r *Rows) twin() fyne.CanvasObject {
	other := NewRows()
	other.axis.unit = r.axis.unit
	other.rows, other.legend, other.zero, other.note = r.rows, append(legend(nil), r.legend...), r.zero, r.note
	return other
}

// Table implements [chart.Kept]: a row for each dot.
func (c *Curves) Table() []byte {
	var t sheetText
	t.add(c.data.Factor, c.data.By, "mean", "low", "high", "runs")
	for _, l := range c.data.Lines {
		for _, d := range l.Dots {
			t.add(d.Text, l.Label, d.Mean, d.Low, d.High, d.Runs)
		}
	}
	return t.bytes()
}

func (c *Curves) twin() fyne.CanvasObject {
	other := NewCurves()
	other.Set(c.data)
	return other
}

// Table implements [chart.Kept]: a row for each factor.
func (s *Screening) Table() []byte {
	var t sheetText
	head := []any{"factor"}
	for _, name := range s.data.Figures {
		head = append(head, name)
	}
	t.add(head...)
	for _, f := range s.data.Factors {
		row := []any{f.Name}
		for _, figure := range f.Figures {
			row = append(row, figure.Value)
		}
		t.add(row...)
	}
	return t.bytes()
}

func (s *Screening) twin() fyne.CanvasObject {
	other := NewScreening()
	other.Set(s.data)
	return other
}

// Table implements [chart.Kept]: a row for each run.
func (m *Matrix) Table() []byte {
	var t sheetText
	t.add("point", "seed", "state", "run")
	for point, row := range m.runs() {
		for i, run := range row {
			t.add(m.table.Points[point].Label, strconv.FormatUint(m.table.Seeds[i], 10), string(run.State), run.ID)
		}
	}
	return t.bytes()
}

func (m *Matrix) twin() fyne.CanvasObject {
	other := NewMatrix()
	if m.table != nil {
		other.Set(m.table)
	}
	return other
}

// Table implements [chart.Kept]: a row for each bin.
func (d *Distributions) Table() []byte {
	var t sheetText
	t.add(d.field.title, "low", "high", d.sides[0]+" (%)", d.sides[1]+" (%)")
	for i := range d.bins {
		b := &d.bins[i]
		t.add(b.Label, b.Low, b.High, b.Shares[0], b.Shares[1])
	}
	return t.bytes()
}

func (d *Distributions) twin() fyne.CanvasObject {
	other := NewDistributions(d.sides)
	other.Set(d.field.title, d.bins, d.numbers)
	return other
}
