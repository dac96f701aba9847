-- Campaigns and what they cost, in the currency of the account that paid. One campaign is a rehearsal of our own.
CREATE SCHEMA marketing;
CREATE TABLE marketing.campaigns AS
SELECT number::INTEGER AS campaign_id,
    CASE WHEN number = 18 THEN 'QA rehearsal' ELSE concat(pick('theme', number,
        ['Spring Sound', 'Back to Desk', 'Big Screen', 'Pocket Power', 'Quiet Week', 'Winter Lights']), ' ', number) END
        AS campaign_name,
    ['search ads', 'social ads', 'display ads', 'newsletter', 'affiliate'][1 + number % 5] AS campaign_kind,
    pick('objective', number, ['acquisition', 'retention', 'awareness']) AS objective,
    pick('manager', number, ['Priya Nair', 'Jonas Weber', 'Sofia Rossi']) AS campaign_manager,
    roll('plan', number, 10, 80) * 1000::DECIMAL(12, 2) AS planned_budget,
    today() - roll('start', number, 60, 520) AS starts_on,
    NULL::DATE AS ends_on, number = 18 AS is_internal
FROM range(1, 19) AS numbers (number);
UPDATE marketing.campaigns SET ends_on = starts_on + roll('length', campaign_id, 30, 160)
WHERE starts_on + roll('length', campaign_id, 30, 160) < today();

CREATE TABLE marketing.ad_spend AS
WITH days AS (
    SELECT campaign_id, day::DATE AS spent_on, concat(campaign_id, '/', day::DATE) AS key,
        ['USD', 'EUR', 'JPY'][1 + campaign_id % 3] AS currency
    FROM marketing.campaigns, generate_series(starts_on, least(coalesce(ends_on, today()), today()), INTERVAL 1 DAY) AS t (day)
    WHERE campaign_kind <> 'newsletter'
), costs AS (
    SELECT *, roll('impressions', key, 2000, 40000) AS impressions, roll('cost', key, 4000, 60000) / 100 AS usd FROM days
)
SELECT (row_number() OVER (ORDER BY spent_on, campaign_id))::INTEGER AS spend_id, campaign_id, spent_on, currency,
    (usd * CASE currency WHEN 'EUR' THEN 0.92 WHEN 'JPY' THEN 150 ELSE 1 END)::DECIMAL(14, 2) AS cost_local,
    usd::DECIMAL(12, 2) AS cost_usd, impressions, (impressions * (0.005 + 0.03 * dice('clicks', key)))::INTEGER AS clicks
FROM costs;

CREATE TABLE marketing.email_sends AS
WITH letters AS (SELECT list(campaign_id ORDER BY campaign_id) AS ids FROM marketing.campaigns WHERE campaign_kind = 'newsletter'),
sends AS (
    SELECT number::INTEGER AS send_id, pick('letter', number, ids) AS campaign_id, roll('reader', number, 1, 420) AS customer_id,
        moment('sent', number, 365) AS sent_at, dice('bounce', number) < 0.04 AS is_bounced
    FROM range(1, 3601) AS numbers (number), letters
), opens AS (
    SELECT *, CASE WHEN NOT is_bounced AND dice('open', send_id) < 0.34
        THEN least(sent_at + to_minutes(roll('opened', send_id, 1, 2000)), today() + INTERVAL '23 hours 59 minutes') END AS opened_at
    FROM sends
)
SELECT *, CASE WHEN opened_at IS NOT NULL AND dice('click', send_id) < 0.22 THEN opened_at END AS clicked_at FROM opens;

CREATE TABLE marketing.coupons AS
SELECT number::INTEGER AS coupon_id, concat('VOLT', 100 + number) AS coupon_code,
    CASE WHEN number % 4 = 0 THEN NULL ELSE roll('coupon campaign', number, 1, 17) END AS campaign_id,
    pick('percent', number, [5, 10, 15, 20]) AS percent_off,
    today() - roll('valid', number, 200, 800) AS valid_from, today() + roll('until', number, -150, 90) AS valid_until
FROM range(1, 21) AS numbers (number);

CREATE TABLE marketing.coupon_redemptions AS
SELECT (row_number() OVER (ORDER BY order_id))::INTEGER AS redemption_id, roll('coupon', order_id, 1, 20) AS coupon_id, order_id,
    ordered_at AS redeemed_at, (total_amount * 0.1)::DECIMAL(12, 2) AS discount_value
FROM shop.orders WHERE channel = 'online' AND dice('redeem', order_id) < 0.12;

-- An order has up to three touchpoints; their credits add up to one. Whoever joins them counts the order again.
CREATE TABLE marketing.touchpoints AS
WITH touches AS (
    SELECT order_id, ordered_at, position::INTEGER AS touch_position, concat(order_id, '/', position) AS key,
        roll('touches', order_id, 1, 3) AS touches
    FROM shop.orders, range(1, 4) AS positions (position) WHERE channel = 'online' AND position <= roll('touches', order_id, 1, 3)
)
SELECT (row_number() OVER (ORDER BY order_id, touch_position))::INTEGER AS touchpoint_id, order_id,
    roll('touched', key, 1, 17) AS campaign_id, touch_position,
    CASE touches WHEN 1 THEN 1.0 WHEN 2 THEN 0.5 ELSE [0.25, 0.25, 0.5][touch_position] END::DECIMAL(4, 2) AS credit,
    ordered_at - to_hours(roll('before', key, 1, 40) + 48 * (touches - touch_position)) AS touched_at
FROM touches;
