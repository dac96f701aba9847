-- Stores and the people who walk in. A broken counter leaves NULL, not zero.
CREATE TABLE shop.stores AS
SELECT number::INTEGER AS store_id, name AS store_name, city, format AS store_format, area AS floor_area,
    today() - roll('store', number, 1200, 4000) AS opened_on
FROM (VALUES (1, 'Voltmark Mitte', 'Berlin', 'flagship', 1800), (2, 'Voltmark Altona', 'Hamburg', 'standard store', 900),
    (3, 'Voltmark Rivoli', 'Paris', 'flagship', 1500), (4, 'Voltmark Gracia', 'Barcelona', 'standard store', 700),
    (5, 'Voltmark Navigli', 'Milan', 'outlet', 600), (6, 'Voltmark Docklands', 'Dublin', 'standard store', 650),
    (7, 'Voltmark Shibuya', 'Tokyo', 'flagship', 1300), (8, 'Voltmark Orchard', 'Singapore', 'outlet', 500),
    (9, 'Voltmark Soma', 'San Francisco', 'standard store', 950)) AS t (number, name, city, format, area);

CREATE TABLE shop.store_visits AS
SELECT (row_number() OVER (ORDER BY back, store_id))::INTEGER AS visit_id, store_id, today() - back::INTEGER AS visited_on,
    CASE WHEN dice('counter', concat(back, '/', store_id)) < 0.03 THEN NULL
         ELSE (floor_area * (0.2 + 0.3 * dice('visits', concat(back, '/', store_id))))::INTEGER END AS visitor_count,
    roll('staff', concat(back, '/', store_id), 3, 14) AS staff_hours
FROM shop.stores, range(400) AS days (back);
