ALTER TABLE audit RENAME COLUMN payload TO header;
ALTER TABLE audit ADD COLUMN payload TEXT;
