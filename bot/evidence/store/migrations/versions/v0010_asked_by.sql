ALTER TABLE gate_calls ADD COLUMN asked_by VARCHAR(128);

UPDATE gate_calls SET asked_by = actor WHERE ok IS NULL;
