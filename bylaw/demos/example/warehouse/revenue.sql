-- Plans and prices: targets by month, every change of a price or of a membership, and what companies may buy.
CREATE SCHEMA revenue;
CREATE TABLE revenue.sales_targets AS
SELECT (row_number() OVER (ORDER BY month, region))::INTEGER AS target_id, month::DATE AS target_month, region,
    (roll('target', concat(region, month::DATE), 30, 70) * 1000)::DECIMAL(12, 2) AS target_amount
FROM (VALUES ('APAC'), ('EU'), ('US')) AS regions (region),
    generate_series(date_trunc('year', today()) - INTERVAL 1 YEAR, date_trunc('year', today()) + INTERVAL 11 MONTH, INTERVAL 1 MONTH) AS t (month);

CREATE TABLE revenue.price_changes AS
WITH steps AS (
    SELECT number::INTEGER AS price_change_id, roll('repriced', number, 1, 48) AS product_id,
        moment('repriced at', number, 500) AS changed_at, 0.85 + 0.25 * dice('step', number) AS step
    FROM range(1, 181) AS numbers (number)
)
SELECT price_change_id, steps.product_id, changed_at, list_price AS old_price, (list_price * step)::DECIMAL(12, 2) AS new_price,
    pick('why repriced', price_change_id, ['supplier cost', 'competitor', 'clearance', 'season']) AS change_reason
FROM steps JOIN shop.products USING (product_id);

CREATE TABLE revenue.subscription_changes AS
WITH changes AS (
    SELECT subscription_id, 'signup' AS change_kind, started_at AS changed_on, monthly_fee AS mrr_change FROM finance.subscriptions
    UNION ALL
    SELECT subscription_id, 'upgrade', started_at + 25, 3.00 FROM finance.subscriptions
    WHERE dice('upgrade', subscription_id) < 0.15 AND coalesce(ended_at, today()) > started_at + 40
    UNION ALL
    SELECT subscription_id, 'downgrade', started_at + 15, -2.00 FROM finance.subscriptions
    WHERE dice('downgrade', subscription_id) < 0.08 AND coalesce(ended_at, today()) > started_at + 40
    UNION ALL
    SELECT subscription_id, 'churn', ended_at, -(monthly_fee + CASE WHEN dice('upgrade', subscription_id) < 0.15 AND ended_at > started_at + 40 THEN 3 ELSE 0 END
        - CASE WHEN dice('downgrade', subscription_id) < 0.08 AND ended_at > started_at + 40 THEN 2 ELSE 0 END)
    FROM finance.subscriptions WHERE ended_at IS NOT NULL
)
SELECT (row_number() OVER (ORDER BY changed_on, subscription_id, change_kind))::INTEGER AS change_id, subscription_id, change_kind,
    changed_on, mrr_change::DECIMAL(12, 2) AS mrr_change
FROM changes;

CREATE TABLE revenue.business_accounts AS
SELECT number::INTEGER AS account_id, concat(pick('firm', number, ['Nordlicht', 'Harbour', 'Cedar', 'Lumen', 'Atlas', 'Quarry']), ' ',
        pick('form of firm', number, ['Hotels', 'Schools', 'Clinics', 'Logistics']), ' ', number) AS account_name,
    pick('account industry', number, ['hospitality', 'education', 'healthcare', 'logistics']) AS industry,
    pick('size', number, ['small business', 'small business', 'mid-market', 'enterprise']) AS account_size,
    pick('seller', number, ['Nina Holt', 'Omar Said', 'Paula Reyes', 'Quentin Roy']) AS account_manager,
    today() - roll('signed', number, 30, 900) AS signed_on
FROM range(1, 71) AS numbers (number);

CREATE TABLE revenue.deals AS
WITH made AS (
    SELECT number::INTEGER AS deal_id, roll('deal account', number, 1, 70) AS account_id, today() - roll('opened', number, 0, 600) AS opened_on,
        pick('deal', number, ['prospect', 'proposal', 'negotiation', 'won', 'won', 'lost']) AS deal_stage
    FROM range(1, 321) AS numbers (number)
)
SELECT deal_id, account_id, deal_stage, (roll('value', deal_id, 8, 400) * 250)::DECIMAL(12, 2) AS deal_value, opened_on,
    CASE WHEN deal_stage IN ('won', 'lost') THEN least(opened_on + roll('closed', deal_id, 5, 120), today()) END AS closed_on,
    CASE WHEN deal_stage = 'lost' THEN pick('loss', deal_id, ['too expensive', 'competitor', 'no budget', 'timing']) END AS loss_reason
FROM made;
