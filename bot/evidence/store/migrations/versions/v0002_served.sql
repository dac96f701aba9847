CREATE TABLE served (
    name VARCHAR(16) NOT NULL,
    etag VARCHAR(80) NOT NULL,
    source_commit VARCHAR(80),
    committed_at VARCHAR(20),
    served_at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_served PRIMARY KEY (name)
);
