-- What people do in the app, and what they think of it. Colleagues use it as well; not every survey is answered.
CREATE SCHEMA product;
CREATE TABLE product.features AS
SELECT number::INTEGER AS feature_id, name AS feature_name, area AS product_area, today() - roll('released', number, 60, 900) AS released_on
FROM (VALUES (1, 'Barcode scan', 'search'), (2, 'Wish list', 'shopping'), (3, 'Price alert', 'shopping'), (4, 'Order tracking', 'service'),
    (5, 'Store finder', 'service'), (6, 'Voice search', 'search'), (7, 'Compare view', 'shopping'), (8, 'Repair booking', 'service'),
    (9, 'Saved cards', 'payment'), (10, 'Split payment', 'payment')) AS t (number, name, area);

CREATE TABLE product.feature_usage AS
WITH uses AS (
    SELECT DISTINCT roll('feature', number, 1, 10) AS feature_id, roll('user', number, 1, 420) AS customer_id,
        today() - floor(180 * dice('used', number))::INTEGER AS used_on
    FROM range(1, 3201) AS numbers (number)
)
SELECT (row_number() OVER (ORDER BY used_on, feature_id, customer_id))::INTEGER AS usage_id, feature_id, customer_id, used_on,
    roll('uses', concat(feature_id, '/', customer_id, '/', used_on), 1, 9) AS use_count
FROM uses WHERE used_on >= (SELECT released_on FROM product.features f WHERE f.feature_id = uses.feature_id);

CREATE TABLE product.app_events AS
SELECT number::INTEGER AS event_id, CASE WHEN dice('guest', number) < 0.3 THEN NULL ELSE roll('app user', number, 1, 420) END AS customer_id,
    pick('event', number, ['app open', 'app open', 'app open', 'search', 'search', 'add to cart', 'checkout start', 'wish list add']) AS event_name,
    pick('platform', number, ['iOS', 'Android', 'Android']) AS platform, concat('5.', roll('version', number, 0, 4)) AS app_version,
    moment('event at', number, 120) AS occurred_at, dice('internal', number) < 0.06 AS is_internal
FROM range(1, 7001) AS numbers (number);

CREATE TABLE product.reviews AS
SELECT number::INTEGER AS review_id, roll('reviewed', number, 1, 48) AS product_id, roll('reviewer', number, 1, 420) AS customer_id,
    pick('stars', number, [1, 2, 3, 4, 4, 5, 5, 5]) AS rating,
    pick('review', number, ['published', 'published', 'published', 'published', 'under review', 'rejected review']) AS review_state,
    moment('reviewed at', number, 600) AS reviewed_at
FROM range(1, 851) AS numbers (number);

CREATE TABLE product.survey_responses AS
SELECT number::INTEGER AS response_id, roll('surveyed', number, 1, 420) AS customer_id,
    pick('survey', number, ['relationship survey', 'delivery survey', 'support survey']) AS survey_kind,
    CASE WHEN dice('unanswered', number) < 0.18 THEN NULL ELSE pick('score', number, [2, 5, 6, 7, 8, 8, 9, 9, 10, 10]) END AS score,
    moment('answered', number, 450) AS answered_at
FROM range(1, 651) AS numbers (number);
