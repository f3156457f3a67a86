package engine

// Outlay is what requests took: how many left, and what calls of models used.
type Outlay struct {
	Requests int64 `cbor:"1,keyasint,omitempty"`
	Usage    Usage `cbor:"2,keyasint,omitzero"`
}

// Plus returns the sum of o and p.
func (o Outlay) Plus(p Outlay) Outlay {
	o.Requests += p.Requests
	o.Usage.Add(&p.Usage)
	return o
}

// Minus returns o without p.
func (o Outlay) Minus(p Outlay) Outlay {
	o.Requests -= p.Requests
	o.Usage.subtract(&p.Usage)
	return o
}

// Amount is the part of an outlay that budgets bound.
func (o Outlay) Amount() Amount {
	return Amount{o.Usage.Cost, o.Usage.Input + o.Usage.Output, o.Requests}
}

// OfRequests returns o without the counts that describe steps instead of requests.
func (o Outlay) OfRequests() Outlay {
	o.Usage.Hits, o.Usage.Again = 0, 0
	return o
}

// atLeast returns the larger of each figure.
func (o Outlay) atLeast(p Outlay) Outlay {
	o.Requests = max(o.Requests, p.Requests)
	mine, other := o.Usage.figures(), p.Usage.figures()
	for i := range mine {
		*mine[i] = max(*mine[i], *other[i])
	}
	return o
}
