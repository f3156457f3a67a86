-- +goose Up

-- What the sessions of each cycle did: CBOR, as engine.CycleWork.
ALTER TABLE barriers ADD COLUMN work BLOB;
