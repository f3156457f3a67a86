// Package chain reads and executes the steps of a session: the plan of a chain, the one table of step kinds
// (kinds.go) with a file per kind beside it, and the executor that runs them for one agent in the order that they ask for.
//
// A [Reader] reads chains out of a file's nodes and reports every mistake with its place. What it makes is fixed from then
// on, and any number of sessions go through it at once.
package chain
