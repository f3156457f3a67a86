// Package shards keeps the books of a cycle whose sessions several workers execute: which worker a shard is offered or leased to, what
// share of the concurrency limit each worker has, and how far the cycle is.
//
// A [Book] is pure: it starts no goroutine, reads no clock and does no I/O. Its methods are the events of a run and of its workers,
// and it returns effects, which its owner carries out in order. The same events always lead to the same effects, so a simulation
// can drive it from a seed. A Book is not safe for concurrent use.
package shards
