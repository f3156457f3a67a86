package workers

// Sample is what a worker did at a moment, as the journal keeps it.
type Sample struct {
	Name      string  `cbor:"1,keyasint,omitempty"` // "" for several workers together
	InFlight  int     `cbor:"2,keyasint,omitempty"`
	PerSecond float64 `cbor:"3,keyasint,omitempty"` // sessions
	CPU       float64 `cbor:"4,keyasint,omitempty"` // percent of one core
}

// mostSampled bounds the samples of a moment. Each takes about 40 bytes a second in the journal.
const mostSampled = 32

// Samples returns the samples of the workers that are neither lost nor refused. If there are many, the last ones are one sample.
func Samples(all []State) (samples []Sample) {
	for i := range all {
		w := &all[i]
		switch {
		case w.Status.Gone():
		case len(samples) < mostSampled:
			samples = append(samples, Sample{w.Name, w.InFlight, w.PerSecond, w.CPU})
		default:
			last := &samples[mostSampled-1]
			*last = Sample{"", last.InFlight + w.InFlight, last.PerSecond + w.PerSecond, last.CPU + w.CPU}
		}
	}
	return samples
}
