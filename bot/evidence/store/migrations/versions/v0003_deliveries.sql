CREATE TABLE deliveries (
    delivery_id VARCHAR(128) NOT NULL,
    letter {json} NOT NULL,
    attempts INTEGER NOT NULL,
    owner VARCHAR(128),
    leased_until VARCHAR(27),
    place {json},
    failure TEXT,
    created_at VARCHAR(27) NOT NULL,
    closed_at VARCHAR(27),
    CONSTRAINT pk_deliveries PRIMARY KEY (delivery_id)
);
CREATE INDEX ix_deliveries_closed_at_created_at ON deliveries (closed_at, created_at);
