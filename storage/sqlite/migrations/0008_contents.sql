-- +goose Up

-- How far what a run's checkpoints restore was sent to a remote database.
CREATE TABLE contents (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs (key),
	target     TEXT    NOT NULL, -- host:port/database
	wanted     INTEGER NOT NULL,
	source     INTEGER NOT NULL DEFAULT 0,  -- bytes of the scenario's files
	answers    INTEGER NOT NULL DEFAULT 0,  -- position of the last answer that belongs to the run
	memory     INTEGER NOT NULL DEFAULT 0,  -- checkpoint * 2^32 + agent of the last one's memory
	log        INTEGER NOT NULL DEFAULT 0,  -- bytes of the rehearsal's log
	checkpoint INTEGER NOT NULL DEFAULT 0,  -- the newest that is there as a whole
	kept       TEXT    NOT NULL DEFAULT ''  -- the numbers of those that are there
) STRICT;
CREATE UNIQUE INDEX contents_target ON contents (target, run);
CREATE INDEX contents_run ON contents (run);

-- Where a run came from that was made in another store, as JSON. While it arrives, doomed is 2.
ALTER TABLE runs ADD COLUMN fetched TEXT;
