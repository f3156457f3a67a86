package service

import "net/http"

// Witness hears of every attempt of a client that goes out: of calls, of logins and of what a probe asks. Its functions
// are called by many goroutines, may block, and may be nil.
type Witness struct {
	// Leaving is called when a request is about to leave, with its headers; of a statement with nil.
	Leaving func(http.Header)
	// Arrived is called when its whole answer is there and nothing of it is journaled.
	Arrived func()
}

func (w *Witness) leaving(header http.Header) {
	if w.Leaving != nil {
		w.Leaving(header)
	}
}

func (w *Witness) arrived() {
	if w.Arrived != nil {
		w.Arrived()
	}
}

// Tell has a witness hear of the client's attempts. It comes before the first call.
func (h *HTTP) Tell(w Witness) { h.transport.witness = w }

// Tell has a witness hear of the client's attempts. It comes before the first call.
func (p *Postgres) Tell(w Witness) { p.witness = w }
