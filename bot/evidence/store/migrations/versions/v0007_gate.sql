CREATE TABLE gate_calls (
    decision_id VARCHAR(128) NOT NULL,
    change BIGINT NOT NULL,
    session_id VARCHAR(128),
    actor VARCHAR(128),
    action VARCHAR(200) NOT NULL,
    tool VARCHAR(200),
    keys TEXT NOT NULL,
    facts TEXT NOT NULL,
    at BIGINT NOT NULL,
    ok BOOLEAN,
    CONSTRAINT pk_gate_calls PRIMARY KEY (decision_id),
    CONSTRAINT uq_gate_calls_change UNIQUE (change)
);

CREATE TABLE gate_keys (
    name VARCHAR(200) NOT NULL,
    value VARCHAR(400) NOT NULL,
    decision_id VARCHAR(128) NOT NULL,
    CONSTRAINT pk_gate_keys PRIMARY KEY (name, value, decision_id)
);
CREATE INDEX ix_gate_keys_decision_id ON gate_keys (decision_id);

CREATE TABLE gate_sessions (
    session_id VARCHAR(128) NOT NULL,
    last_at BIGINT NOT NULL,
    CONSTRAINT pk_gate_sessions PRIMARY KEY (session_id)
);
