ALTER TABLE throng.sessions
	ADD COLUMN recorded    integer NOT NULL DEFAULT 0,
	ADD COLUMN calls_again integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN throng.sessions.recorded IS 'Steps whose answer was taken from the recording of another run, so that nobody was asked.';
COMMENT ON COLUMN throng.sessions.calls_again IS 'Calls of models that were under way at an interruption and were sent again: they may have been paid twice.';
COMMENT ON COLUMN throng.sessions.label IS 'The strongest of fresh, replayed, uncertain, confirmed, recorded.';

ALTER TABLE throng.metrics
	ADD COLUMN calls_again bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN throng.metrics.calls_again IS 'Calls of models so far that were sent again after an interruption, and may have been paid twice.';
