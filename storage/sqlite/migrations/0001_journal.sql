-- +goose Up

-- The next free position of the journal. Positions are never used twice, so that whoever follows the journal by
-- position (the outbox) misses nothing when rows are deleted.
CREATE TABLE positions (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	next INTEGER NOT NULL
) STRICT;
INSERT INTO positions VALUES (1, 1);

-- Large values stand last: reading the columns before them does not touch their pages.
CREATE TABLE runs (
	key              INTEGER PRIMARY KEY AUTOINCREMENT,
	id               TEXT    NOT NULL UNIQUE,
	title            TEXT    NOT NULL,
	created          INTEGER NOT NULL, -- microseconds UTC, like every time here
	ended            INTEGER NOT NULL DEFAULT 0,
	ending           TEXT    NOT NULL DEFAULT '',
	reason           TEXT    NOT NULL DEFAULT '',
	cycle            INTEGER NOT NULL,
	cycles           INTEGER NOT NULL,
	done             INTEGER NOT NULL DEFAULT 0,
	events           INTEGER NOT NULL DEFAULT 0,
	total            INTEGER NOT NULL,
	parent           TEXT    NOT NULL,
	fork_cycle       INTEGER NOT NULL,
	inexact          TEXT,             -- JSON
	checkpoint_bytes INTEGER NOT NULL DEFAULT 0,
	collected        INTEGER NOT NULL DEFAULT 0, -- the oldest kept checkpoint before which no memory is left over
	doomed           INTEGER NOT NULL DEFAULT 0, -- being deleted
	source           TEXT    NOT NULL,
	hash             TEXT    NOT NULL,
	parameters       TEXT    NOT NULL, -- JSON
	settings         TEXT    NOT NULL, -- JSON
	verdict          BLOB,
	totals           BLOB,
	files            BLOB
) STRICT;

-- A row is a pack: sessions of one cycle that were journaled together, at positions pos to pos+count-1.
CREATE TABLE sessions (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	cycle INTEGER NOT NULL,
	lo    INTEGER NOT NULL, -- the lowest agent in it
	hi    INTEGER NOT NULL,
	count INTEGER NOT NULL,
	bad   INTEGER NOT NULL, -- how many of them failed or timed out
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX sessions_order ON sessions (run, cycle, lo);

-- Packs of what sessions changed in their agents' memory; gone after the next checkpoint.
CREATE TABLE deltas (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	cycle INTEGER NOT NULL,
	count INTEGER NOT NULL,
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX deltas_order ON deltas (run, cycle);

-- Packs of intents and answers. Once their cycle is closed, what is kept of a pack is marked so and the rest goes.
CREATE TABLE requests (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	kept  INTEGER NOT NULL,
	cycle INTEGER NOT NULL,
	count INTEGER NOT NULL,
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX requests_order ON requests (run, kept, cycle);

CREATE TABLE barriers (
	pos      INTEGER PRIMARY KEY,
	run      INTEGER NOT NULL REFERENCES runs (key),
	cycle    INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	active   INTEGER NOT NULL,
	took     INTEGER NOT NULL, -- nanoseconds
	lag      INTEGER NOT NULL, -- nanoseconds
	sessions INTEGER NOT NULL
) STRICT;
CREATE INDEX barriers_order ON barriers (run, cycle);

CREATE TABLE changes (
	pos     INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (key),
	at      INTEGER NOT NULL,
	cycle   INTEGER NOT NULL,
	what    TEXT    NOT NULL,
	old     TEXT    NOT NULL,
	new     TEXT    NOT NULL,
	who     TEXT    NOT NULL,
	why     TEXT    NOT NULL,
	inexact TEXT -- JSON
) STRICT;
CREATE INDEX changes_order ON changes (run);

CREATE TABLE starts (
	pos     INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (key),
	at      INTEGER NOT NULL,
	cycle   INTEGER NOT NULL,
	resumed INTEGER NOT NULL
) STRICT;
CREATE INDEX starts_order ON starts (run);

CREATE TABLE metrics (
	pos  INTEGER PRIMARY KEY,
	run  INTEGER NOT NULL REFERENCES runs (key),
	at   INTEGER NOT NULL,
	data BLOB    NOT NULL
) STRICT;
CREATE INDEX metrics_order ON metrics (run, at);

-- The journal up to pos, without the position itself, is in the checkpoint.
CREATE TABLE checkpoints (
	pos    INTEGER PRIMARY KEY,
	run    INTEGER NOT NULL REFERENCES runs (key),
	number INTEGER NOT NULL,
	at     INTEGER NOT NULL,
	cycle  INTEGER NOT NULL,
	done   INTEGER NOT NULL,
	total  INTEGER NOT NULL,
	reason TEXT    NOT NULL,
	bytes  INTEGER NOT NULL,
	state  BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoints_number ON checkpoints (run, number);

-- What changed from checkpoint to checkpoint: an agent's memory at checkpoint n is its row with the highest number
-- that is not above n. Rows of a number without a checkpoint belong to one that is being made, or to one that was
-- pruned and whose memory a later one needs.
CREATE TABLE checkpoint_memory (
	id     INTEGER PRIMARY KEY,
	run    INTEGER NOT NULL REFERENCES runs (key),
	number INTEGER NOT NULL,
	agent  INTEGER NOT NULL,
	data   BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoint_memory_agent ON checkpoint_memory (run, agent, number);
CREATE INDEX checkpoint_memory_number ON checkpoint_memory (run, number, agent);
