CREATE TABLE requests (
    request_id VARCHAR(128) NOT NULL,
    fingerprint VARCHAR(64) NOT NULL,
    session_id VARCHAR(128) NOT NULL,
    actor_id VARCHAR(128) NOT NULL,
    question {json} NOT NULL,
    state VARCHAR(16) NOT NULL,
    kind VARCHAR(16),
    attempts INTEGER NOT NULL,
    owner VARCHAR(128),
    leased_until VARCHAR(27),
    bundle_etag VARCHAR(80),
    reply {json},
    artifacts {json},
    failure TEXT,
    created_at VARCHAR(27) NOT NULL,
    updated_at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_requests PRIMARY KEY (request_id)
);
CREATE INDEX ix_requests_session_id_actor_id ON requests (session_id, actor_id);
CREATE INDEX ix_requests_state_updated_at ON requests (state, updated_at);

CREATE TABLE request_steps (
    request_id VARCHAR(128) NOT NULL,
    n INTEGER NOT NULL,
    state VARCHAR(16) NOT NULL,
    at VARCHAR(27) NOT NULL,
    note TEXT,
    CONSTRAINT pk_request_steps PRIMARY KEY (request_id, n),
    FOREIGN KEY(request_id) REFERENCES requests (request_id)
);

CREATE TABLE sessions (
    session_id VARCHAR(128) NOT NULL,
    actor_id VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    last_kind VARCHAR(16),
    pending VARCHAR(16),
    offered {json} NOT NULL,
    states {json} NOT NULL,
    updated_at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (session_id, actor_id)
);

CREATE TABLE audit (
    position {position} NOT NULL,
    prev_hash VARCHAR(64),
    entry_hash VARCHAR(64) NOT NULL,
    request_id VARCHAR(128),
    at VARCHAR(27) NOT NULL,
    payload TEXT NOT NULL,
    CONSTRAINT pk_audit PRIMARY KEY (position),
    CONSTRAINT uq_audit_prev_hash UNIQUE (prev_hash),
    CONSTRAINT uq_audit_entry_hash UNIQUE (entry_hash)
);
CREATE INDEX ix_audit_request_id ON audit (request_id);

CREATE TABLE query_log (
    log_id VARCHAR(128) NOT NULL,
    at VARCHAR(27) NOT NULL,
    request_id VARCHAR(128) NOT NULL,
    actor_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL,
    natural_language TEXT NOT NULL,
    stated_criticality VARCHAR(16),
    kind VARCHAR(16) NOT NULL,
    matched_entities {json},
    domain VARCHAR(128),
    routing_confidence FLOAT,
    error_likelihood FLOAT,
    expected_cost FLOAT,
    factors {json},
    autonomy_level INTEGER,
    generated_sql TEXT,
    execution_time_ms INTEGER,
    status VARCHAR(16) NOT NULL,
    user_accepted BOOLEAN,
    feedback VARCHAR(16),
    correction_made BOOLEAN NOT NULL,
    correction_type VARCHAR(32),
    CONSTRAINT pk_query_log PRIMARY KEY (log_id)
);
CREATE INDEX ix_query_log_at ON query_log (at);
CREATE INDEX ix_query_log_actor_id_at ON query_log (actor_id, at);
