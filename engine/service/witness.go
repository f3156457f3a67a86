package service

import "net/http"

// Witness is notified of every attempt of a client, including logins and probes. Its functions are called concurrently, may block,
// and may be nil.
type Witness struct {
	// Leaving is called before a request is sent, with its headers; nil for a statement.
	Leaving func(http.Header)
	// Arrived is called when the whole response has arrived and is not yet journaled.
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

// Observe sets the witness of the client's attempts. Call it before the first call.
func (h *HTTP) Observe(w Witness) { h.transport.witness = w }

// Observe sets the witness of the client's attempts. Call it before the first call.
func (p *Postgres) Observe(w Witness) { p.witness = w }
