CREATE TABLE papers (
    name VARCHAR(64) NOT NULL,
    text TEXT NOT NULL,
    CONSTRAINT pk_papers PRIMARY KEY (name)
);
