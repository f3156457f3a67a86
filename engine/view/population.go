package view

// Population describes how the agents were drawn from a file, formatted.
type Population struct {
	Summary string   // such as "300 of 2000 rows of personas.parquet, weighted by weight, seed 1"
	Notes   []string // about the file, and how the weights were raked to the targets
	// Shares compares the shares of the values of attributes: in the file by weight, wanted and drawn, with the half-width
	// of the range of 95% of all draws in percentage points. It is empty without targets.
	Shares Table
}

// PopulationHead are the columns of the shares of a [Population].
var PopulationHead = []string{"Value", "In the file", "Target", "Drawn", "95% of draws", "Remark"}

// OffTarget is the remark of a share that differs from its target more than chance explains.
const OffTarget = "off by more than in 95% of draws"
