-- Questions, complaints and repairs. An open ticket has no solving time, which is not a time of zero.
CREATE SCHEMA support;
CREATE TABLE support.support_agents AS
SELECT number::INTEGER AS agent_id, pick('agent', number, ['Alma', 'Boris', 'Cleo', 'Dario', 'Edda', 'Finn']) || ' ' || chr(64 + number::INTEGER) || '.' AS agent_name,
    pick('team', number, ['first line', 'first line', 'technical desk', 'returns desk']) AS support_team,
    today() - roll('hired', number, 60, 2000) AS hired_on
FROM range(1, 15) AS numbers (number);

CREATE TABLE support.tickets AS
WITH about AS (
    SELECT number::INTEGER AS ticket_id, moment('ticket', number, 420) AS opened_at, roll('about order', number, 1, 2600) AS about_order,
        pick('ticket state', number, ['solved', 'solved', 'solved', 'solved', 'waiting for customer', 'open ticket']) AS ticket_state
    FROM range(1, 1301) AS numbers (number)
)
SELECT ticket_id, CASE WHEN dice('with order', ticket_id) < 0.7 THEN order_id END AS order_id, customer_id,
    CASE WHEN dice('assigned', ticket_id) < 0.95 THEN roll('agent of', ticket_id, 1, 14) END AS agent_id,
    pick('topic', ticket_id, ['delivery question', 'refund question', 'product fault', 'account access', 'billing question']) AS topic,
    pick('priority', ticket_id, ['P1', 'P2', 'P2', 'P3', 'P3', 'P3']) AS priority, ticket_state,
    pick('contact', ticket_id, ['phone call', 'chat', 'chat', 'contact form']) AS contact_channel, opened_at,
    CASE WHEN dice('first reply', ticket_id) < 0.93 THEN roll('reply', ticket_id, 2, 900) END AS first_reply_minutes,
    CASE WHEN ticket_state = 'solved'
        THEN least(opened_at + to_hours(roll('solve', ticket_id, 1, 120)), today() + INTERVAL '23 hours 58 minutes') END AS solved_at
FROM about JOIN shop.orders ON order_id = about_order;

CREATE TABLE support.warranties AS
SELECT (row_number() OVER (ORDER BY order_item_id))::INTEGER AS warranty_id, order_item_id,
    CASE WHEN dice('extended', order_item_id) < 0.3 THEN 'extended warranty' ELSE 'standard warranty' END AS warranty_kind,
    ordered_at::DATE AS starts_on, ordered_at::DATE + CASE WHEN dice('extended', order_item_id) < 0.3 THEN 1461 ELSE 730 END AS ends_on,
    CASE WHEN dice('extended', order_item_id) < 0.3 THEN roll('cover', order_item_id, 20, 90) ELSE 0 END::DECIMAL(12, 2) AS cover_price
FROM shop.order_items JOIN shop.orders USING (order_id) JOIN shop.products USING (product_id)
WHERE category IN ('televisions', 'laptops', 'phones') AND status IN ('delivered', 'shipped') AND dice('covered', order_item_id) < 0.4;

CREATE TABLE support.warranty_claims AS
SELECT (row_number() OVER (ORDER BY warranty_id))::INTEGER AS claim_id, warranty_id,
    pick('fault', warranty_id, ['screen', 'battery', 'sound', 'does not start']) AS fault_kind,
    pick('claim', warranty_id, ['repaired', 'replaced', 'turned down', 'in workshop']) AS claim_state,
    starts_on + floor(dice('claimed', warranty_id) * (today() - starts_on))::INTEGER AS claimed_on,
    CASE WHEN pick('claim', warranty_id, ['repaired', 'replaced', 'turned down', 'in workshop']) IN ('repaired', 'replaced')
        THEN (roll('repair', warranty_id, 1500, 28000) / 100)::DECIMAL(12, 2) END AS repair_cost
FROM support.warranties WHERE dice('claims', warranty_id) < 0.2;
