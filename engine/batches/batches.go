// Package batches describes the model calls that wait for a provider's batch API.
package batches

import "time"

// State counts the model calls of a service that wait for batches.
type State struct {
	Gathering int       `json:"gathering"`         // calls in batches that are not sent yet
	Open      int       `json:"open"`              // batches with the provider
	Calls     int       `json:"calls"`             // in those
	Due       time.Time `json:"due,omitzero"`      // when the first of them is promised
	Trouble   string    `json:"trouble,omitempty"` // why the provider does not answer; "" if it does
}
