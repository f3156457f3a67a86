// Package service holds the clients of the outside. What they share is a call's way through the journal: intents and
// answers, replay, retries, and the clocks that stand still while the engine holds it back. Below the HTTP client a
// transport adds the bound on calls at once and waiting when told to, and below that what is plain HTTP/1.1 is sent
// directly, the rest by net/http; a Postgres client has a pool of its own.
package service
