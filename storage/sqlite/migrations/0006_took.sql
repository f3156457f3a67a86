-- +goose Up

-- From the order of a checkpoint until it was written, in nanoseconds; 0 where an older version did not measure it.
ALTER TABLE checkpoints ADD COLUMN took INTEGER NOT NULL DEFAULT 0;
