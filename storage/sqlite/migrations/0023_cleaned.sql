-- +goose Up

-- The cleanups of the run: JSON, a list of engine.Cleaned, the oldest first.
ALTER TABLE runs ADD COLUMN cleaned TEXT NOT NULL DEFAULT '[]';
