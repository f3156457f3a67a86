-- +goose Up

-- What the run was expected to take, as JSON, made before it started.
ALTER TABLE runs ADD COLUMN forecast TEXT;
