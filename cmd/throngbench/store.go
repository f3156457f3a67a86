package main

// storeRows measure the local store and what is sent to Postgres.
func storeRows() []row { return nil }
