package workers

// Sample is what a worker did at a moment, as the journal keeps it.
type Sample struct {
	Name      string  `cbor:"1,keyasint,omitempty"` // "" for several workers together
	InFlight  int     `cbor:"2,keyasint,omitempty"`
	PerSecond float64 `cbor:"3,keyasint,omitempty"` // sessions
	CPU       float64 `cbor:"4,keyasint,omitempty"` // percent of one core
	Cores     int     `cbor:"5,keyasint,omitempty"`
	Status    Status  `cbor:"6,keyasint,omitempty"`
}

// mostSampled bounds the samples of a moment. Each takes about 40 bytes a second in the journal.
const mostSampled = 32

// Samples returns the samples of workers that may have sessions. If there are many, the last ones are one sample.
func Samples(all []State) (samples []Sample) {
	for i := range all {
		w := &all[i]
		if w.Status.Gone() {
			continue
		}
		s := Sample{w.Name, w.InFlight, w.PerSecond, w.CPU, w.Cores, w.Status}
		if len(samples) < mostSampled {
			samples = append(samples, s)
			continue
		}
		last := &samples[mostSampled-1]
		*last = Sample{InFlight: last.InFlight + s.InFlight, PerSecond: last.PerSecond + s.PerSecond, CPU: last.CPU + s.CPU, Cores: last.Cores + s.Cores}
	}
	return samples
}
