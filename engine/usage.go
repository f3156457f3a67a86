package engine

// Usage is the use of model calls.
type Usage struct {
	// Calls counts answered calls, and calls whose answer was lost, which may have been billed.
	Calls    int64 `cbor:"1,keyasint,omitempty"`
	Input    int64 `cbor:"2,keyasint,omitempty"` // input tokens
	Output   int64 `cbor:"3,keyasint,omitempty"` // output tokens
	Cost     int64 `cbor:"4,keyasint,omitempty"` // billionths of a US dollar, for calls with a known price
	Unpriced int64 `cbor:"5,keyasint,omitempty"` // calls without a known price, which Cost excludes
	// Estimated counts calls whose tokens are estimated because the service did not report them: from the length of the
	// texts or, without an answer, from the claim.
	Estimated int64 `cbor:"6,keyasint,omitempty"`
	// Hits counts steps that used an answer shared by the run. Each request of the run for a shared answer subtracts one,
	// so the total is the number of steps that needed no request.
	Hits int64 `cbor:"7,keyasint,omitempty"`
	// Again counts calls that were in progress when a process died or was cut, and that were sent again on resume. Models
	// do not support idempotency keys, so these calls may have been billed twice.
	Again int64 `cbor:"8,keyasint,omitempty"`
	// Cached is the part of Input that the service read from its cache, at the cache price, and Written what it wrote there.
	Cached  int64 `cbor:"9,keyasint,omitempty"`
	Written int64 `cbor:"11,keyasint,omitempty"`
	// Batched counts the calls that were answered in a batch.
	Batched int64 `cbor:"10,keyasint,omitempty"`
	// Cacheable is the input of calls whose prompts are long enough for a cache that makes them cheaper.
	Cacheable int64 `cbor:"12,keyasint,omitempty"`
	// Doubtful counts calls whose reported tokens contradict each other. They count with the larger figures.
	Doubtful int64 `cbor:"13,keyasint,omitempty"`
}

// figures returns pointers to all fields.
func (u *Usage) figures() [13]*int64 {
	return [...]*int64{
		&u.Calls, &u.Input, &u.Output, &u.Cost, &u.Unpriced, &u.Estimated, &u.Hits, &u.Again, &u.Cached, &u.Written, &u.Cacheable, &u.Doubtful, &u.Batched,
	}
}

// Add adds other to u. other may be nil.
func (u *Usage) Add(other *Usage) {
	if other != nil {
		u.add(other, 1)
	}
}

func (u *Usage) add(other *Usage, sign int64) {
	if *other == (Usage{}) { // as for all requests but those of models
		return
	}
	mine, more := u.figures(), other.figures()
	for i := range mine {
		*mine[i] += sign * *more[i]
	}
}

// SharedKey identifies an answer that belongs to the run.
type SharedKey [16]byte

// PopulationKey is the key of the record about writing the population. It has no answer.
var PopulationKey = SharedKey{'p', 'o', 'p', 'u', 'l', 'a', 't', 'i', 'o', 'n'}
