package engine

// Outlay is the cost of requests: how many were sent, and the use of model calls.
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

// Minus returns the difference of o and p.
func (o Outlay) Minus(p Outlay) Outlay {
	o.Requests -= p.Requests
	o.Usage.subtract(&p.Usage)
	return o
}

// Amount returns the part of an outlay that budgets limit.
func (o Outlay) Amount() Amount {
	return Amount{o.Usage.Cost, o.Usage.Input + o.Usage.Output, o.Requests}
}

// OfRequests returns o without the counts that describe steps instead of requests.
func (o Outlay) OfRequests() Outlay {
	o.Usage.Hits, o.Usage.Again = 0, 0
	return o
}

// atLeast returns the maximum of each figure.
func (o Outlay) atLeast(p Outlay) Outlay {
	o.Requests = max(o.Requests, p.Requests)
	mine, other := o.Usage.figures(), p.Usage.figures()
	for i := range mine {
		*mine[i] = max(*mine[i], *other[i])
	}
	return o
}
