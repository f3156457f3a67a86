ALTER TABLE throng.checkpoints ADD COLUMN took_ms double precision;
COMMENT ON COLUMN throng.checkpoints.took_ms IS 'From its order until it was written; sessions went on meanwhile. NULL where it was not measured.';
