-- +goose Up

-- When a run or a checkpoint was put into the bin, where it stays for a while; 0 is not there. The column doomed of such
-- a run is 3, so that whoever lists runs skips it.
ALTER TABLE runs ADD COLUMN binned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN binned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX checkpoints_binned ON checkpoints (binned) WHERE binned > 0;

-- What a person wrote of the run.
ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';
