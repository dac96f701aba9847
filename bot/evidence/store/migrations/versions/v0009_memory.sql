CREATE TABLE corrections (
    correction_id VARCHAR(128) NOT NULL,
    at VARCHAR(27) NOT NULL,
    actor_id VARCHAR(128) NOT NULL,
    actor_roles {json} NOT NULL,
    request_id VARCHAR(128) NOT NULL,
    correction_type VARCHAR(16) NOT NULL,
    domain VARCHAR(128),
    object VARCHAR(200),
    field VARCHAR(200),
    "old" {json},
    "new" {json},
    reason TEXT NOT NULL,
    structure VARCHAR(64),
    stage VARCHAR(16) NOT NULL,
    is_applied BOOLEAN NOT NULL,
    changed_at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_corrections PRIMARY KEY (correction_id)
);
CREATE INDEX ix_corrections_actor_id_is_applied ON corrections (actor_id, is_applied);
CREATE INDEX ix_corrections_object_field ON corrections (object, field);

CREATE TABLE candidates (
    candidate_id VARCHAR(128) NOT NULL,
    structure VARCHAR(64) NOT NULL,
    proposed_at VARCHAR(27) NOT NULL,
    stage VARCHAR(16) NOT NULL,
    change {json} NOT NULL,
    domain VARCHAR(128),
    members {json} NOT NULL,
    "similar" {json} NOT NULL,
    reviewed_by VARCHAR(128),
    reviewed_at VARCHAR(27),
    reason TEXT,
    pull_request TEXT,
    merged_at VARCHAR(27),
    CONSTRAINT pk_candidates PRIMARY KEY (candidate_id)
);
CREATE INDEX ix_candidates_structure_stage ON candidates (structure, stage);

CREATE TABLE memories (
    actor_id VARCHAR(128) NOT NULL,
    memory_type VARCHAR(16) NOT NULL,
    name VARCHAR(128) NOT NULL,
    content {json} NOT NULL,
    request_id VARCHAR(128),
    at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_memories PRIMARY KEY (actor_id, memory_type, name)
);
