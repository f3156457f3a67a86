ALTER TABLE throng.sessions
	ADD COLUMN model_calls   integer NOT NULL DEFAULT 0,
	ADD COLUMN input_tokens  bigint  NOT NULL DEFAULT 0,
	ADD COLUMN output_tokens bigint  NOT NULL DEFAULT 0,
	ADD COLUMN cost_usd      numeric DEFAULT 0,
	ADD COLUMN cache_hits    integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN throng.sessions.model_calls IS 'Calls of models that were answered.';
COMMENT ON COLUMN throng.sessions.cost_usd IS 'What the calls of models cost; NULL where a price is not known.';
COMMENT ON COLUMN throng.sessions.cache_hits IS 'Steps that took an answer which the run had already.';

ALTER TABLE throng.metrics
	ADD COLUMN model_calls   bigint  NOT NULL DEFAULT 0,
	ADD COLUMN input_tokens  bigint  NOT NULL DEFAULT 0,
	ADD COLUMN output_tokens bigint  NOT NULL DEFAULT 0,
	ADD COLUMN cost_usd      numeric DEFAULT 0;
COMMENT ON COLUMN throng.metrics.model_calls IS 'Calls of models so far, like their tokens and cost; what a run asked for all its sessions is in here only.';
