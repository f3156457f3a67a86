// Package chain reads and executes the steps of a session: the plan of a chain, the one table of step kinds (kinds.go)
// with one file per kind, and the executor that runs the steps for one agent in dependency order.
//
// A [Reader] reads chains from a file's nodes and reports every error with its position. The chains are immutable and
// safe for concurrent use by sessions.
package chain
