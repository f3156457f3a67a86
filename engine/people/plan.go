package people

// Limits of a draw.
const (
	MaxRows  = 10_000_000 // that are taken
	maxBytes = 256 << 20  // of the rows that are taken, as CSV
)

// Plan says which rows and columns of a file become agents. The zero value takes no row.
type Plan struct {
	Columns []Choice                     // the attributes, in order; nil takes all columns under their names
	Types   map[string]Kind              // by attribute; others have the type of the file
	Values  map[string]map[string]string // by attribute: other values for cells, by their text; "" is a missing cell
	Where   *Condition                   // nil takes every row
	Count   int                          // rows to take; negative takes all
	Sample  *Sample                      // nil takes the first rows
}

// Choice is an attribute and the column that it is read from.
type Choice struct{ Attribute, Column string }

// Condition selects rows.
type Condition struct {
	Names []string // what it looks at: attributes, and columns that are not an attribute
	Holds func(row int64, cells []Cell) (bool, error)
}

// Sample is a draw of rows without replacement. The zero value draws all rows with the same probability.
type Sample struct {
	Seed      uint64
	Weight    string   // the column of the weights; "" weighs all rows equally
	Targets   []Target // marginal shares that the weights are raked to
	Tolerance float64  // largest difference of a share after raking; 0 is DefaultTolerance
	Rounds    int      // most rounds of raking; 0 is DefaultRounds
}

// Defaults of raking.
const (
	DefaultTolerance = 1e-6
	DefaultRounds    = 1000
)

// Target is how the values of one attribute are to be distributed.
type Target struct {
	Attribute string
	Shares    []Share
}

// Share is the part of a category. The parts of a target may have any sum.
type Share struct {
	Category string
	Part     float64 // not negative; 0 leaves the category out
}
