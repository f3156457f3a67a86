package engine

// Asked counts requests to services.
type Asked struct {
	Usage       Usage  `cbor:"1,keyasint,omitzero"`
	Requests    int64  `cbor:"2,keyasint,omitempty"` // attempts sent; 429s do not count
	Retries     int64  `cbor:"3,keyasint,omitempty"`
	RateLimited int64  `cbor:"4,keyasint,omitempty"` // 429s
	Labels      Labels `cbor:"5,keyasint"`           // service steps by Label
	Waits       Waits  `cbor:"6,keyasint,omitzero"`
}

// Answered reports whether a service or a recording answered the step.
func (r *StepRecord) Answered() bool { return r.Attempts > 0 || r.Label == Recorded }

// Add counts a step.
func (a *Asked) Add(s *StepRecord) {
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
		a.Retries += int64(s.Attempts - 1)
	}
}

// merge adds other to a.
func (a *Asked) merge(other *Asked) {
	a.Usage.Add(&other.Usage)
	a.Waits.Add(&other.Waits)
	a.Requests += other.Requests
	a.Retries += other.Retries
	a.RateLimited += other.RateLimited
	for i, n := range other.Labels {
		a.Labels[i] += n
	}
}
