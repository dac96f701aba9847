ALTER TABLE deliveries ADD COLUMN outcome VARCHAR(16);
ALTER TABLE deliveries ADD COLUMN closed_by VARCHAR(128);
ALTER TABLE deliveries ADD COLUMN cause VARCHAR(16);
ALTER TABLE deliveries ADD COLUMN blocked_at VARCHAR(27);
ALTER TABLE deliveries ADD COLUMN is_doubtful BOOLEAN DEFAULT {false} NOT NULL;
ALTER TABLE candidates ADD COLUMN followed_at VARCHAR(27);

CREATE TABLE watches (
    name VARCHAR(128) NOT NULL,
    seen_until VARCHAR(27) NOT NULL,
    owner VARCHAR(128),
    leased_until VARCHAR(27),
    attempts INTEGER NOT NULL,
    unseen TEXT,
    CONSTRAINT pk_watches PRIMARY KEY (name)
);

UPDATE deliveries SET outcome = CASE WHEN failure IS NULL THEN 'delivered' ELSE 'given up' END
WHERE closed_at IS NOT NULL;

UPDATE deliveries SET is_doubtful = {true} WHERE attempts > 0;
