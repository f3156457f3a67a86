ALTER TABLE throng.sessions RENAME COLUMN uncertain TO unconfirmed;
ALTER TABLE throng.sessions
	ADD COLUMN resent       integer NOT NULL DEFAULT 0,
	ADD COLUMN not_repeated integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN throng.sessions.unconfirmed IS 'Steps whose changing request was sent again, with no proof that it was carried out only once.';
COMMENT ON COLUMN throng.sessions.resent IS 'Steps whose request was sent again and was carried out once for certain.';
COMMENT ON COLUMN throng.sessions.not_repeated IS 'Steps whose request may have been carried out, and was not sent again because the scenario forbids it.';
COMMENT ON COLUMN throng.sessions.label IS 'The last that holds of fresh, replayed, resent, confirmed, recorded, not_repeated, unconfirmed.';
COMMENT ON COLUMN throng.sessions.session IS 'The session''s id in results, the same for each run with one seed: session.seed_uuid.';
