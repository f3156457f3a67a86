package view

// Footprint is the stored data of a run, which a deletion of the run deletes.
type Footprint struct {
	Sessions, Events int64
	Checkpoints      int
	Bytes            int64 // of its rows; a deletion frees about this much of the file
	Sendings         []Sending
}

// Sending is a remote database that receives a run's rows.
type Sending struct {
	Target string // host:port/database
	Unsent int64  // sessions and metrics that the database has not confirmed
}
