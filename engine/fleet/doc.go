// Package fleet executes a run's sessions in several processes, on this machine or others.
//
// The coordinator owns the run: it offers shards to workers, journals what they send, and divides the limits of the run among them.
// A worker executes sessions in a local pool whose host is the coordinator, and keeps no truth: anything that is not in the
// coordinator's journal is executed again.
//
// The transport is behind [Bus] and [Link]; package bus implements them with NATS.
package fleet
