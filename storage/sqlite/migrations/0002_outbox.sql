-- +goose Up

-- How far a run's rows were sent to a remote database. Positions are given in the order of commits, so everything up
-- to pos is sessions and metrics that are there. A checkpoint's position is older than its row: they go by number.
CREATE TABLE outbox (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs (key),
	target     TEXT    NOT NULL, -- host:port/database
	pos        INTEGER NOT NULL DEFAULT 0,
	checkpoint INTEGER NOT NULL DEFAULT 0,
	changed    INTEGER NOT NULL,           -- when the run's own row changed last, never the same twice
	told       INTEGER NOT NULL DEFAULT 0  -- what changed was when that row was sent
) STRICT;
CREATE UNIQUE INDEX outbox_target ON outbox (target, run);
CREATE INDEX outbox_run ON outbox (run);

-- +goose StatementBegin
CREATE TRIGGER runs_changed AFTER UPDATE OF ended, ending, reason, cycle, done, events, total, inexact, settings, verdict, totals ON runs
BEGIN
	UPDATE outbox SET changed = max(changed + 1, CAST(unixepoch('subsec') * 1000000 AS INTEGER)) WHERE run = new.key;
END;
-- +goose StatementEnd

-- What is not sent is found, and counted, without reading a pack.
CREATE INDEX sessions_sent ON sessions (run, pos, count);
CREATE INDEX metrics_sent ON metrics (run, pos);
