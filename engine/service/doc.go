// Package service implements the clients of services: http, models and Postgres. All share a call's way through the journal:
// intents and answers, replay, retries, and clocks that pause while the engine throttles. The transport below the HTTP client adds
// the concurrency limit and rate limits. Plain HTTP/1.1 is sent directly, everything else by net/http. A Postgres client has a
// connection pool of its own.
package service
