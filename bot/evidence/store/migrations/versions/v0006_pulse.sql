CREATE TABLE pulse (
    place INTEGER NOT NULL,
    at VARCHAR(27) NOT NULL,
    CONSTRAINT pk_pulse PRIMARY KEY (place)
);
