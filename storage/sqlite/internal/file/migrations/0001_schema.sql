-- +goose Up

-- Times are microseconds since 1970, UTC. Large values are the last columns, so that reading the others does not touch
-- their pages.

-- The next free position of the journal. Positions are never used twice, so that a reader that follows the journal by
-- position, such as the outbox, misses nothing when rows are deleted.
CREATE TABLE positions (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	next INTEGER NOT NULL
) STRICT;
INSERT INTO positions VALUES (1, 1);

CREATE TABLE runs (
	key              INTEGER PRIMARY KEY AUTOINCREMENT,
	id               TEXT    NOT NULL UNIQUE,
	title            TEXT    NOT NULL,
	created          INTEGER NOT NULL,
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
	forked_at        INTEGER NOT NULL DEFAULT 0,  -- when the parent's checkpoint was taken
	kept             INTEGER NOT NULL DEFAULT 0,  -- sessions of the cycles before fork_cycle
	inexact          TEXT,                        -- JSON
	checkpoint_bytes INTEGER NOT NULL DEFAULT 0,
	collected        INTEGER NOT NULL DEFAULT 0,  -- the oldest kept checkpoint; obsolete memory before it is deleted
	hidden           INTEGER NOT NULL DEFAULT 0,  -- 0: listed, 1: being deleted, 2: being imported, 3: in the trash
	trashed          INTEGER NOT NULL DEFAULT 0,  -- when it was put into the trash
	path             TEXT    NOT NULL DEFAULT '', -- of the scenario's file; compared at resume, never sent elsewhere
	name             TEXT    NOT NULL DEFAULT '', -- written by a person, as are the next three; without one, the title is shown
	tags             TEXT    NOT NULL DEFAULT '[]', -- JSON, a sorted list
	star             INTEGER NOT NULL DEFAULT 0,
	note             TEXT    NOT NULL DEFAULT '',
	acted            INTEGER NOT NULL DEFAULT 0,  -- sessions that acted, and those that failed or timed out
	failed           INTEGER NOT NULL DEFAULT 0,
	baseline         TEXT    NOT NULL DEFAULT '{}', -- JSON: defaults of the scenario
	experiment       TEXT    NOT NULL DEFAULT '', -- that it was made for; "" if none
	identity         TEXT    NOT NULL DEFAULT '', -- hash of what decides its results; "" outside of experiments
	cleaned          TEXT    NOT NULL DEFAULT '[]', -- cleanups of this run: JSON, a list of engine.Cleaned, oldest first
	source           TEXT    NOT NULL,
	hash             TEXT    NOT NULL,
	parameters       TEXT    NOT NULL,            -- JSON
	settings         TEXT    NOT NULL,            -- JSON
	forecast         TEXT,                        -- JSON, made before the run started
	fetched          TEXT,                        -- JSON: where a run that was made in another store came from
	verdict          BLOB,
	totals           BLOB,
	files            BLOB
) STRICT;
CREATE INDEX runs_identity ON runs (identity) WHERE identity <> '';

-- Packs of sessions of one cycle that were journaled together, at positions pos to pos+count-1.
CREATE TABLE sessions (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	cycle INTEGER NOT NULL,
	lo    INTEGER NOT NULL, -- the lowest agent in it
	hi    INTEGER NOT NULL, -- the highest
	count INTEGER NOT NULL,
	bad   INTEGER NOT NULL, -- how many of them failed or timed out
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX sessions_order ON sessions (run, cycle, lo);
-- Rows that are not sent yet are found and counted without reading a pack.
CREATE INDEX sessions_sent ON sessions (run, pos, count);

-- Packs of changes that sessions made to their agents' memory; deleted after the next checkpoint.
CREATE TABLE deltas (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	cycle INTEGER NOT NULL,
	count INTEGER NOT NULL,
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX deltas_order ON deltas (run, cycle);

-- Packs of intents and answers. When their cycle is closed, the kept part of a pack is marked and the rest is deleted.
CREATE TABLE requests (
	pos   INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	kept  INTEGER NOT NULL,
	cycle INTEGER NOT NULL,
	count INTEGER NOT NULL,
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX requests_order ON requests (run, kept, cycle);

-- Packs of exchanges with services and messages of one cycle, kept for reading. They are no part of the journal: a lost one
-- changes no result.
CREATE TABLE exchanges (
	id    INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs (key),
	cycle INTEGER NOT NULL,
	lo    INTEGER NOT NULL, -- the lowest agent in it
	hi    INTEGER NOT NULL, -- the highest
	first INTEGER NOT NULL, -- when the earliest began
	last  INTEGER NOT NULL, -- when the latest began
	count INTEGER NOT NULL,
	data  BLOB    NOT NULL
) STRICT;
CREATE INDEX exchanges_order ON exchanges (run, cycle);

-- Answers shared by all sessions of a run, and what asking for them cost. They are kept as long as the run, because a
-- later cycle may need them after a resume.
CREATE TABLE shared (
	pos  INTEGER PRIMARY KEY,
	run  INTEGER NOT NULL REFERENCES runs (key),
	key  BLOB    NOT NULL,
	open INTEGER NOT NULL, -- 1: requested, without an answer yet; deleted when the answer is written
	data BLOB    NOT NULL
) STRICT;
CREATE INDEX shared_order ON shared (run);
CREATE INDEX shared_open ON shared (run, key) WHERE open;

-- Changing requests that were sent again after a crash or a lost answer, without proof that they were carried out only
-- once.
CREATE TABLE unconfirmed (
	pos     INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (key),
	at      INTEGER NOT NULL,
	cycle   INTEGER NOT NULL,
	agent   INTEGER NOT NULL,
	take    INTEGER NOT NULL,
	path    TEXT    NOT NULL,
	request TEXT    NOT NULL,
	UNIQUE (run, cycle, agent, take, path)
) STRICT;

CREATE TABLE barriers (
	pos      INTEGER PRIMARY KEY,
	run      INTEGER NOT NULL REFERENCES runs (key),
	cycle    INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	active   INTEGER NOT NULL,
	took     INTEGER NOT NULL, -- nanoseconds
	lag      INTEGER NOT NULL, -- nanoseconds
	sessions INTEGER NOT NULL,
	mock     INTEGER NOT NULL DEFAULT 0, -- bytes in the mock shop's log when the cycle was closed
	work     BLOB                        -- totals of the cycle's sessions: CBOR, an engine.CycleWork
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

-- One row per process that executed the run.
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
CREATE INDEX metrics_sent ON metrics (run, pos);

-- A checkpoint holds the journal up to, and without, position pos.
CREATE TABLE checkpoints (
	pos     INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (key),
	number  INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	cycle   INTEGER NOT NULL,
	done    INTEGER NOT NULL,
	total   INTEGER NOT NULL,
	kept    INTEGER NOT NULL,           -- sessions of closed cycles
	reason  TEXT    NOT NULL,
	bytes   INTEGER NOT NULL,
	took    INTEGER NOT NULL DEFAULT 0, -- nanoseconds from its order until it was written
	trashed INTEGER NOT NULL DEFAULT 0, -- when it was put into the trash; 0 is not there
	state   BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoints_number ON checkpoints (run, number);
CREATE INDEX checkpoints_trashed ON checkpoints (trashed) WHERE trashed > 0;

-- Changes of memory from checkpoint to checkpoint: an agent's memory at checkpoint n is its row with the highest number
-- up to n. Rows whose number has no checkpoint belong to one that is being made, or to a deleted one whose memory a
-- later checkpoint needs.
CREATE TABLE checkpoint_memory (
	id     INTEGER PRIMARY KEY,
	run    INTEGER NOT NULL REFERENCES runs (key),
	number INTEGER NOT NULL,
	agent  INTEGER NOT NULL,
	data   BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoint_memory_agent ON checkpoint_memory (run, agent, number);
CREATE INDEX checkpoint_memory_number ON checkpoint_memory (run, number, agent);

-- How far a run's rows were sent to a remote database. Positions are assigned in the order of commits, so that all
-- sessions and metrics up to pos are there. A checkpoint's position is older than its row: checkpoints go by number.
CREATE TABLE outbox (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs (key),
	target     TEXT    NOT NULL, -- host:port/database
	pos        INTEGER NOT NULL DEFAULT 0,
	checkpoint INTEGER NOT NULL DEFAULT 0,
	changed    INTEGER NOT NULL,          -- when the run's own row last changed; never the same value twice
	sent       INTEGER NOT NULL DEFAULT 0 -- the value of changed when that row was last sent
) STRICT;
CREATE UNIQUE INDEX outbox_target ON outbox (target, run);
CREATE INDEX outbox_run ON outbox (run);

-- +goose StatementBegin
CREATE TRIGGER runs_changed AFTER UPDATE OF ended, ending, reason, cycle, done, events, total, inexact, settings, verdict, totals, name, tags ON runs
BEGIN
	UPDATE outbox SET changed = max(changed + 1, CAST(unixepoch('subsec') * 1000000 AS INTEGER)) WHERE run = new.key;
END;
-- +goose StatementEnd

-- How far the contents of a run's checkpoints were sent to a remote database.
CREATE TABLE contents (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs (key),
	target     TEXT    NOT NULL, -- host:port/database
	wanted     INTEGER NOT NULL,
	source     INTEGER NOT NULL DEFAULT 0, -- bytes of the scenario's files
	answers    INTEGER NOT NULL DEFAULT 0, -- position of the last shared answer
	memory     INTEGER NOT NULL DEFAULT 0, -- checkpoint * 2^32 + agent of the last memory
	log        INTEGER NOT NULL DEFAULT 0, -- bytes of the mock shop's log
	checkpoint INTEGER NOT NULL DEFAULT 0, -- the newest that was sent completely
	kept       TEXT    NOT NULL DEFAULT '' -- numbers of the checkpoints that are there
) STRICT;
CREATE UNIQUE INDEX contents_target ON contents (target, run);
CREATE INDEX contents_run ON contents (run);
