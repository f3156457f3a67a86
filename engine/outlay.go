package engine

// Outlay is the cost of requests: how many were sent, and the use of model calls.
type Outlay struct {
	Requests int64 `cbor:"1,keyasint,omitempty"`
	Usage    Usage `cbor:"2,keyasint,omitzero"`
}

// Plus returns the sum of o and p.
func (o Outlay) Plus(p Outlay) Outlay {
	o.Add(&p)
	return o
}

// Minus returns the difference of o and p.
func (o Outlay) Minus(p Outlay) Outlay {
	o.Subtract(&p)
	return o
}

// Add adds p to o.
func (o *Outlay) Add(p *Outlay) {
	o.Requests += p.Requests
	o.Usage.add(&p.Usage, 1)
}

// Subtract subtracts p from o.
func (o *Outlay) Subtract(p *Outlay) {
	o.Requests -= p.Requests
	o.Usage.add(&p.Usage, -1)
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

// RequestCounts counts requests to services.
type RequestCounts struct {
	Usage       Usage  `cbor:"1,keyasint,omitzero"`
	Requests    int64  `cbor:"2,keyasint,omitempty"` // attempts sent; 429s do not count
	Retries     int64  `cbor:"3,keyasint,omitempty"`
	RateLimited int64  `cbor:"4,keyasint,omitempty"` // 429s
	Labels      Labels `cbor:"5,keyasint"`           // service steps by Label
	Waits       Waits  `cbor:"6,keyasint,omitzero"`
}

// Answered reports whether a service or a recording answered the step.
func (r *StepRecord) Answered() bool { return r.Attempts > 0 || r.Label == Recorded }

// Retries returns how many of the step's requests repeated another one.
func (r *StepRecord) Retries() int { return max(r.Attempts-r.Redirects-r.Rounds-1, 0) }

// Add counts a step.
func (a *RequestCounts) Add(s *StepRecord) {
	a.Usage.Add(s.Usage)
	a.Waits.Add(s.Waits)
	for _, status := range s.Statuses {
		if status == 429 {
			a.RateLimited++
		}
	}
	if s.Answered() {
		a.Labels[s.Label]++
	}
	if s.Attempts > 0 {
		a.Requests += int64(s.Attempts)
		a.Retries += int64(s.Retries())
	}
}

// Merge adds other to a.
func (a *RequestCounts) Merge(other *RequestCounts) {
	a.Usage.Add(&other.Usage)
	a.Waits.Add(&other.Waits)
	a.Requests += other.Requests
	a.Retries += other.Retries
	a.RateLimited += other.RateLimited
	for i, n := range other.Labels {
		a.Labels[i] += n
	}
}
