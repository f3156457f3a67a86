-- +goose Up

-- Answers that belong to a run, and what asking for them took. They stay as long as the run: any later cycle may need
-- them, should it be resumed.
CREATE TABLE shared (
	pos  INTEGER PRIMARY KEY,
	run  INTEGER NOT NULL REFERENCES runs (key),
	key  BLOB    NOT NULL,
	open INTEGER NOT NULL, -- asked for, and not ended; goes when it ends
	data BLOB    NOT NULL
) STRICT;
CREATE INDEX shared_order ON shared (run);
CREATE INDEX shared_open ON shared (run, key) WHERE open;
