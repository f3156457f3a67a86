package engine

// Usage is what calls of models took.
type Usage struct {
	// Calls counts those that were answered, and those whose answer got lost: these may have been billed.
	Calls    int64 `cbor:"1,keyasint,omitempty"`
	Input    int64 `cbor:"2,keyasint,omitempty"` // tokens of what was asked
	Output   int64 `cbor:"3,keyasint,omitempty"` // tokens of the answers
	Cost     int64 `cbor:"4,keyasint,omitempty"` // billionths of a US dollar, of the calls that have a price
	Unpriced int64 `cbor:"5,keyasint,omitempty"` // calls of models whose price is not known: Cost is without them
	// Estimated counts calls whose tokens are a guess, since the service did not say: from the length of the texts or, where
	// there is no answer, what was claimed for it.
	Estimated int64 `cbor:"6,keyasint,omitempty"`
	// Hits counts steps that took an answer which the run shares; the run's own asking for one takes a step off, so that
	// over all they are those that did not have to ask.
	Hits int64 `cbor:"7,keyasint,omitempty"`
	// Again counts calls that were under way when a process died, or was cut, and that were sent again when the run was
	// resumed: models know no idempotency keys, so that these may have been paid twice.
	Again int64 `cbor:"8,keyasint,omitempty"`
	// Cached is the part of Input that the service took from its own cache, at the price of that.
	Cached int64 `cbor:"9,keyasint,omitempty"`
}

// figures are all fields.
func (u *Usage) figures() [9]*int64 {
	return [...]*int64{&u.Calls, &u.Input, &u.Output, &u.Cost, &u.Unpriced, &u.Estimated, &u.Hits, &u.Again, &u.Cached}
}

// Add adds other to u; nil adds nothing.
func (u *Usage) Add(other *Usage) {
	if other == nil {
		return
	}
	u.Calls += other.Calls
	u.Input += other.Input
	u.Output += other.Output
	u.Cost += other.Cost
	u.Unpriced += other.Unpriced
	u.Estimated += other.Estimated
	u.Hits += other.Hits
	u.Again += other.Again
	u.Cached += other.Cached
}

func (u *Usage) subtract(other *Usage) {
	mine, less := u.figures(), other.figures()
	for i := range mine {
		*mine[i] -= *less[i]
	}
}

// SharedKey names an answer that belongs to the run.
type SharedKey [16]byte

// PopulationKey is that of the record of what it took to write the population, which is no answer.
var PopulationKey = SharedKey{'p', 'o', 'p', 'u', 'l', 'a', 't', 'i', 'o', 'n'}
