ALTER TABLE requests ADD COLUMN revises VARCHAR(128);
ALTER TABLE requests ADD COLUMN clarifies VARCHAR(128);
ALTER TABLE requests ADD COLUMN due_at VARCHAR(27);
ALTER TABLE requests ADD COLUMN assigned_to VARCHAR(128);
ALTER TABLE requests ADD COLUMN settled_at VARCHAR(27);
ALTER TABLE requests ADD COLUMN outcome VARCHAR(16);
CREATE INDEX ix_requests_due_at ON requests (due_at);
ALTER TABLE query_log ADD COLUMN outcome VARCHAR(16);
ALTER TABLE query_log ADD COLUMN settled_at VARCHAR(27);
ALTER TABLE query_log ADD COLUMN revises VARCHAR(128);
ALTER TABLE query_log ADD COLUMN clarifies VARCHAR(128);
ALTER TABLE query_log ADD COLUMN choice INTEGER;
ALTER TABLE query_log ADD COLUMN answer_ms INTEGER;
ALTER TABLE deliveries ADD COLUMN kind VARCHAR(16) DEFAULT 'message' NOT NULL;
ALTER TABLE deliveries ADD COLUMN recipient VARCHAR(128);
ALTER TABLE deliveries ADD COLUMN about VARCHAR(128);
CREATE INDEX ix_deliveries_about ON deliveries (about);
ALTER TABLE sessions ADD COLUMN last_request VARCHAR(128);

CREATE TABLE remarks (
    remark_id VARCHAR(64) NOT NULL,
    request_id VARCHAR(128) NOT NULL,
    actor_id VARCHAR(128) NOT NULL,
    at VARCHAR(27) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    verdict VARCHAR(16),
    text TEXT,
    correction {json},
    CONSTRAINT pk_remarks PRIMARY KEY (remark_id)
);
CREATE INDEX ix_remarks_request_id_at ON remarks (request_id, at);
