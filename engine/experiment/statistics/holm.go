package statistics

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p-values, corrected for their number by the step-down method of Holm (1979), in the order of p. NaN stays NaN and
// does not count.
func Holm(p []float64) []float64 {
	rows := make([][]float64, len(p))
	for i := range p {
		rows[i] = p[i : i+1]
	}
	all := make([]float64, 0, len(p))
	for _, row := range HolmRows(rows) {
		all = append(all, row[0])
	}
	return all
}

// HolmRows corrects p-values of several rows for the number of rows, where the values of one row are already corrected for each other:
// rows are measures, and columns are points that Dunnett's method corrected. It steps through all values from the smallest and
// multiplies by the number of rows that still have a value; with one column this is Holm's method.
//
// It keeps the chance of any false positive in the whole table: before the first one, each row with a true null hypothesis still has a
// value, so that the sum over these rows of at most (error / rows) bounds it, as in Holm's proof. NaN stays NaN and does not count.
func HolmRows(p [][]float64) [][]float64 {
	type cell struct{ row, column int }
	var order []cell
	left, rows, all := make([]int, len(p)), 0, make([][]float64, len(p))
	for r, row := range p {
		all[r] = slices.Clone(row)
		for c, x := range row {
			if !math.IsNaN(x) {
				order = append(order, cell{r, c})
				left[r]++
			}
		}
		if left[r] > 0 {
			rows++
		}
	}
	slices.SortStableFunc(order, func(a, b cell) int { return cmp.Compare(p[a.row][a.column], p[b.row][b.column]) })
	highest := 0.0
	for _, at := range order {
		highest = math.Max(highest, math.Min(1, p[at.row][at.column]*float64(rows)))
		all[at.row][at.column] = highest
		if left[at.row]--; left[at.row] == 0 {
			rows--
		}
	}
	return all
}
