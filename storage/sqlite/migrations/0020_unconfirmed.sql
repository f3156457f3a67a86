-- +goose Up

-- Changing requests that were sent again after a crash or a lost answer, and of which no answer proved that they were
-- carried out only once.
CREATE TABLE unconfirmed (
	pos     INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (key),
	at      INTEGER NOT NULL,
	cycle   INTEGER NOT NULL,
	agent   INTEGER NOT NULL,
	take    INTEGER NOT NULL,
	path    TEXT NOT NULL,
	request TEXT NOT NULL,
	UNIQUE (run, cycle, agent, take, path)
) STRICT;
