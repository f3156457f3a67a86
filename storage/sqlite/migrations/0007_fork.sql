-- +goose Up

-- Where the scenario's file was, to be compared when the run is resumed; '' is not known. It leaves this machine in no way.
ALTER TABLE runs ADD COLUMN path TEXT NOT NULL DEFAULT '';
