// Package bus connects the coordinator and the workers of a fleet with NATS: it implements [fleet.Bus] and [fleet.Link].
//
// The coordinator runs a NATS server in its own process, or uses an existing cluster. Tickets are messages of a work queue,
// orders are keys of a key-value bucket, bundles are objects of an object store, and requests are core requests in parts that fit
// the server's limit. Nothing is stored on disk: the coordinator's journal is the only truth of a run.
//
// Workers may call very little of JetStream. They pull tickets, and read their own order and the bundles. They have no right to
// create consumers, because a consumer can deliver to any subject. They also have no right to acknowledge: acknowledgements go
// through the coordinator, which checks them, so that they also work after a worker has reconnected.
package bus
