// Package service holds the clients of the outside. What they share lives in the transport below the HTTP client:
// the bound on calls at once, intents and answers in the journal, replay, retries, waiting when told to, and the
// clocks that stand still meanwhile.
package service
