-- A hospital's laboratory as somebody's predecessor left it. Reads alike in DuckDB and in PostgreSQL.
CREATE SCHEMA lab;
CREATE TABLE lab.ward (ward_cd VARCHAR(4) PRIMARY KEY, ward_nm VARCHAR(60) NOT NULL, beds INTEGER);
INSERT INTO lab.ward VALUES ('ICU', 'Intensive Care', 12), ('CAR', 'Cardiology', 30), ('PED', 'Paediatrics', 24),
    ('ONC', 'Oncology', 28), ('EMR', 'Emergency', 16);
CREATE TABLE lab.tbl_patient (
    pat_no INTEGER PRIMARY KEY, first_nm VARCHAR(40), last_nm VARCHAR(40), contact VARCHAR(80), birth_dt DATE,
    sex_cd CHAR(1), height_cm INTEGER, ward_cd VARCHAR(4));
INSERT INTO lab.tbl_patient
    SELECT i, 'Given' || i, 'Family' || i, 'p' || i || '@mail.example', DATE '1950-01-01' + CAST(i * 37 AS INTEGER),
           CASE i % 3 WHEN 0 THEN 'F' WHEN 1 THEN 'M' ELSE 'F' END, 140 + i % 60,
           CASE i % 6 WHEN 0 THEN 'ICU' WHEN 1 THEN 'CAR' WHEN 2 THEN 'PED' WHEN 3 THEN 'ONC' WHEN 4 THEN 'EMR' END
    FROM generate_series(1, 300) AS g(i);
CREATE TABLE lab.ref_clinician (clin_id INTEGER PRIMARY KEY, full_name VARCHAR(60), e_mail VARCHAR(80), specialty VARCHAR(30));
INSERT INTO lab.ref_clinician
    SELECT i, 'Dr ' || i, 'd' || i || '@clinic.example',
           CASE i % 4 WHEN 0 THEN 'surgery' WHEN 1 THEN 'medicine' WHEN 2 THEN 'radiology' ELSE 'neurology' END
    FROM generate_series(1, 40) AS g(i);
CREATE TABLE lab.test_catalog (
    test_cd VARCHAR(8) PRIMARY KEY, test_nm VARCHAR(60), dept VARCHAR(30), list_price NUMERIC(8, 2),
    "turnaround hrs" INTEGER);
INSERT INTO lab.test_catalog
    SELECT 'T' || (100 + i), 'Assay ' || i,
           CASE i % 3 WHEN 0 THEN 'haematology' WHEN 1 THEN 'chemistry' ELSE 'microbiology' END, 10 + i, 2 + i % 48
    FROM generate_series(1, 60) AS g(i);
CREATE TABLE lab.requests (
    req_no INTEGER, pat_no INTEGER NOT NULL, requested_by INTEGER NOT NULL REFERENCES lab.ref_clinician (clin_id),
    reviewed_by INTEGER REFERENCES lab.ref_clinician (clin_id), ordered_at TIMESTAMP NOT NULL,
    collected_on DATE, prio VARCHAR(10) NOT NULL, st VARCHAR(10) NOT NULL);
INSERT INTO lab.requests
    SELECT i, 1 + (i * 7) % 300, 1 + i % 40, CASE WHEN i % 5 = 0 THEN NULL ELSE 1 + (i * 3) % 40 END,
           TIMESTAMP '2025-01-01 08:00:00' + i * INTERVAL '6 hours',
           CASE WHEN i % 9 = 0 THEN NULL ELSE CAST(TIMESTAMP '2025-01-01 08:00:00' + i * INTERVAL '6 hours' AS DATE) END,
           CASE i % 10 WHEN 0 THEN 'stat' WHEN 1 THEN 'urgent' WHEN 2 THEN 'urgent' ELSE 'routine' END,
           CASE i % 8 WHEN 0 THEN 'cancelled' WHEN 1 THEN 'open' ELSE 'done' END
    FROM generate_series(1, 2000) AS g(i);
CREATE TABLE lab.request_line (
    req_no INTEGER, line_no INTEGER, test_cd VARCHAR(8) NOT NULL, qty INTEGER, charge NUMERIC(10, 2),
    PRIMARY KEY (req_no, line_no));
INSERT INTO lab.request_line
    SELECT 1 + (i - i % 2) / 2, 1 + i % 2, 'T' || (101 + (i * 11) % 60), 1 + i % 3, (10 + (i * 13) % 50) * (1 + i % 3)
    FROM generate_series(0, 3999) AS g(i);
CREATE TABLE lab.results (
    result_id INTEGER, req_no INTEGER, line_no INTEGER, val NUMERIC(10, 3), abnormal BOOLEAN, resulted_at TIMESTAMP);
INSERT INTO lab.results
    SELECT i, 1 + (i - i % 2) / 2, 1 + i % 2, (i * 17) % 900 / 10.0, i % 7 = 0,
           TIMESTAMP '2025-01-02 08:00:00' + i * INTERVAL '3 hours'
    FROM generate_series(0, 3499) AS g(i);
CREATE TABLE lab.device (device_id INTEGER PRIMARY KEY, model VARCHAR(40), maker VARCHAR(20), bought_on DATE);
INSERT INTO lab.device
    SELECT i, 'Model ' || i, CASE i % 2 WHEN 0 THEN 'Acme' ELSE 'Borg' END, DATE '2019-01-01' + CAST(i * 50 AS INTEGER)
    FROM generate_series(1, 25) AS g(i);
CREATE TABLE lab.device_test (
    device_id INTEGER REFERENCES lab.device (device_id), test_cd VARCHAR(8) REFERENCES lab.test_catalog (test_cd));
INSERT INTO lab.device_test
    SELECT 1 + i % 25, 'T' || (101 + (i * 7) % 60) FROM generate_series(0, 149) AS g(i);
CREATE TABLE lab.fct_invoices (
    inv_no INTEGER, req_no INTEGER, amount NUMERIC(10, 2), paid CHAR(1), issued VARCHAR(10), memo VARCHAR(400));
INSERT INTO lab.fct_invoices
    SELECT 9000 + i, i, 20 + (i * 19) % 300, CASE WHEN i % 4 = 0 THEN 'N' ELSE 'Y' END,
           CAST(DATE '2025-01-05' + CAST((i - i % 4) / 4 AS INTEGER) AS VARCHAR(10)), 'call +44 20 7946 0' || (100 + i % 900)
    FROM generate_series(1, 1900) AS g(i);
