package findings

// RealData is the real data that the runs of an experiment are compared with.
type RealData struct {
	File, Digest string // Digest is the SHA-256 of the file, hex
	Columns      []RealColumn
	// Shared says why the agents of a run are not independent of each other; "" if they are. The tests of a run then find too much.
	Shared string
}

// RealColumn is a column of the real data with the figure of a run that is compared with it.
type RealColumn struct {
	Name, Figure string
	Numbers      bool // else categories
}

// Distance says how far a column of the real data and the figure of a run are apart. Figures that do not apply are NaN.
type Distance struct {
	Total         float64 // from 0 to 1: Smirnov for numbers, the total variation distance for categories
	Mean          float64 // that of the run minus that of the real data
	Smirnov       float64
	Wasserstein   float64 // in the unit of the column
	JensenShannon float64 // in bits
	ChiSquare     float64
	CramersV      float64
	Differs       bool   // a test of the run is significant among all tests of all columns
	Problem       string // why nothing was compared; "" if it was
}
