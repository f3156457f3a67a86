ALTER TABLE throng.runs ADD COLUMN machine text;
COMMENT ON COLUMN throng.runs.machine IS 'Name of the machine that made the run; NULL where an older Throng sent it.';

CREATE TABLE throng.checkpoint_parts (
	run    text COLLATE "C" NOT NULL,
	kind   text COLLATE "C" NOT NULL,
	place  bigint NOT NULL,
	number bigint NOT NULL,
	data   bytea  NOT NULL,
	PRIMARY KEY (run, kind, place, number)
);
ALTER TABLE throng.checkpoint_parts ALTER COLUMN data SET STORAGE EXTERNAL;
COMMENT ON TABLE throng.checkpoint_parts IS 'What checkpoints restore, for throngctl fetch on another machine: of the newest few of each run. Rows are added, never changed, and go when no kept checkpoint needs them.';
COMMENT ON COLUMN throng.checkpoint_parts.run IS 'Id of the run.';
COMMENT ON COLUMN throng.checkpoint_parts.kind IS 'source: files of the scenario. answer: of a service, which belongs to the run. memory: of an agent. log: what the mock''s shop did. state: the rest of a checkpoint, sent last; with it the checkpoint is whole.';
COMMENT ON COLUMN throng.checkpoint_parts.place IS 'source, log: the first byte. answer: its place in the journal. memory: the agent''s index. state: the checkpoint''s number.';
COMMENT ON COLUMN throng.checkpoint_parts.number IS 'log: bytes. memory: the checkpoint from which on it holds, until a higher one. state: version of the format. Else 0.';
COMMENT ON COLUMN throng.checkpoint_parts.data IS 'As the local store keeps it, compressed; no memory is empty. Without secrets.';

COMMENT ON TABLE throng.checkpoints IS 'Restorable points of runs. What the newest few of each run restore is in checkpoint_parts, unless that was switched off; older ones stand here for the record.';
