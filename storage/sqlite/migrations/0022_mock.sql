-- +goose Up

-- How many bytes the log of the mock shop had when the cycle was closed.
ALTER TABLE barriers ADD COLUMN mock INTEGER NOT NULL DEFAULT 0;
