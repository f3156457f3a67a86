package answer

// Recorder is the first line of a recording.
type Recorder struct {
	Event  string `json:"event"` // started
	URL    string `json:"url"`   // of the proxy
	Target string `json:"target"`
	File   string `json:"file"`
	CA     string `json:"ca,omitempty"` // file of the certificate that clients of a forward proxy must trust
	// Warning says that nothing answers at the target.
	Warning string `json:"warning,omitempty"`
}

// Recorded is a recorded request. Its path has no query.
type Recorded struct {
	Event  string  `json:"event"` // request
	Method string  `json:"method"`
	Host   string  `json:"host"`
	Path   string  `json:"path"`
	Status int     `json:"status"`           // 0 if there was no answer
	Reason string  `json:"reason,omitempty"` // why there was no answer
	MS     float64 `json:"elapsed_ms"`
}

// Recording is the last line of a recording.
type Recording struct {
	Event    string `json:"event"` // ended
	File     string `json:"file"`  // "" if nothing was recorded: then no file is kept
	Requests int    `json:"requests"`
	Skipped  int    `json:"skipped"` // not recorded, because the recording was full
	Bytes    int64  `json:"bytes"`
}
