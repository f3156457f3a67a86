// Package exchange reads recorded requests and their answers: HAR files, curl commands and Postman collections.
package exchange

import (
	"strings"
	"time"
)

// Recording is what one source recorded, in the order of the source.
type Recording struct {
	Source    string   // for display: "HAR of Firefox 133, 31 requests"
	Title     string   // what the source calls itself; "" if it has no name
	Partial   string   // why it was read in part only, as a sentence; "" if it was read to its end
	Notes     []string // what was not read, as sentences
	Exchanges []Exchange
	// Templates is set if texts may contain variables in the manner of Postman: {{name}}.
	Templates bool
	// Sets are the variables that scripts of the source take from answers.
	Sets []Set
	// Sanitized is set if the program that wrote the source leaves out cookies and credentials.
	Sanitized bool
}

// Set is a variable that a script takes from an answer.
type Set struct {
	Variable string
	Exchange int    // index of the exchange with the answer
	Path     string // expression after the answer: ".data.id"
}

// Exchange is a request and its answer.
type Exchange struct {
	Start    time.Time     // zero if the source has no times
	Duration time.Duration // until the last byte of the answer
	Page     string        // title of the page, or folder
	Title    string        // name of the request; "" if the source has none
	Type     string        // resource type of the browser: document, xhr, fetch, script, image, …; "" if unknown
	Cached   bool          // the browser answered it from its cache
	Follow   bool          // the client was asked to follow redirects
	Method   string        // in upper case
	URL      string
	Request  Message
	Status   int    // 0 if there was no answer
	Error    string // why there was none; "" if there was one, or if it is unknown
	Response Message
}

// Message is the headers and the body of a request or an answer.
type Message struct {
	Headers []Field
	Type    string // content type
	Body    string
	Parts   []Part // fields of a form, if the source has them instead of a body
	Binary  bool   // the body is not text and was left out
	Cut     bool   // the body is longer than what was kept
}

// Field is a header.
type Field struct{ Name, Value string }

// Part is a field of a form.
type Part struct {
	Name, Value string
	File        string // name of the uploaded file; "" for a plain field
	Type        string // its content type
}

// Header returns the first value of a header, or "".
func (m *Message) Header(name string) string {
	for _, f := range m.Headers {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Ended returns when the last byte of the answer arrived.
func (e *Exchange) Ended() time.Time { return e.Start.Add(e.Duration) }
