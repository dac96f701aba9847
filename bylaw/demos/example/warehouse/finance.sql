-- Invoices, payments, the ledger and what was planned. An order may be paid in two parts, and attempts may fail.
CREATE TABLE finance.invoices AS
WITH months AS (
    SELECT subscription_id, month::DATE AS issued_on, monthly_fee, concat(subscription_id, '/', month::DATE) AS key
    FROM finance.subscriptions, generate_series(started_at, least(coalesce(ended_at, today()), today()), INTERVAL 1 MONTH) AS t (month)
    WHERE month::DATE >= today() - 540
), settled AS (
    SELECT *, CASE WHEN dice('void', key) < 0.03 THEN 'void' WHEN issued_on > today() - 14 AND dice('soon', key) < 0.6 THEN 'unpaid'
        WHEN issued_on < today() - 30 AND dice('overdue', key) < 0.05 THEN 'overdue' ELSE 'settled' END AS invoice_state
    FROM months
)
SELECT (row_number() OVER (ORDER BY issued_on, subscription_id))::INTEGER AS invoice_id, subscription_id, invoice_state,
    monthly_fee AS invoiced_amount, issued_on, issued_on + 14 AS due_on,
    CASE WHEN invoice_state = 'settled' THEN least(issued_on + roll('settle', key, 0, 25), today()) END AS settled_on
FROM settled;

CREATE TABLE finance.payments AS
WITH parts AS (
    SELECT order_id, ordered_at, total_amount, part::INTEGER AS part, dice('split', order_id) < 0.06 AS is_split,
        dice('fails', order_id) < 0.08 AS fails FROM shop.orders, range(3) AS parts (part) WHERE status <> 'cancelled'
)
SELECT (row_number() OVER (ORDER BY order_id, part))::INTEGER AS payment_id, order_id,
    CASE WHEN part = 2 THEN 'gift card' ELSE pick('method', order_id, ['card', 'card', 'card', 'wallet', 'bank transfer']) END AS payment_method,
    CASE WHEN part = 0 THEN 'failed' ELSE 'captured' END AS payment_state,
    CASE WHEN part = 0 OR NOT is_split THEN total_amount WHEN part = 2 THEN (total_amount * 0.2)::DECIMAL(12, 2)
        ELSE total_amount - (total_amount * 0.2)::DECIMAL(12, 2) END AS paid_amount,
    ordered_at + to_minutes(part) AS attempted_at
FROM parts WHERE (part = 0 AND fails) OR part = 1 OR (part = 2 AND is_split);

CREATE TABLE finance.ledger_accounts AS
SELECT * FROM (VALUES ('1000', 'Bank', 'asset'), ('1200', 'Receivables', 'asset'), ('1400', 'Inventory at cost', 'asset'),
    ('2000', 'Payables', 'liability'), ('2100', 'Deferred Plus fees', 'liability'), ('4000', 'Merchandise sales', 'income'),
    ('4100', 'Plus fees', 'income'), ('5000', 'Cost of goods', 'cost'), ('6000', 'Salaries', 'cost'), ('6100', 'Rent', 'cost'),
    ('6200', 'Advertising', 'cost')) AS t (account_code, account_title, account_class);

-- Every posting has its counterpart: over all accounts the ledger sums to zero.
CREATE TABLE finance.ledger_entries AS
WITH postings AS (
    SELECT month::DATE AS month, line, concat(month::DATE, '/', line) AS key,
        ['4000', '4100', '5000', '6000', '6100', '6200'][1 + line % 6] AS account_code,
        CASE WHEN line % 6 < 2 THEN -1 ELSE 1 END * roll('posting', concat(month::DATE, '/', line), 500, 9000) AS amount
    FROM generate_series(date_trunc('month', today()) - INTERVAL 23 MONTH, date_trunc('month', today()), INTERVAL 1 MONTH) AS t (month),
        range(18) AS lines (line)
), sides AS (
    SELECT *, 0 AS side FROM postings UNION ALL
    SELECT month, line, key, CASE WHEN line % 3 = 0 THEN '1200' ELSE '1000' END, -amount, 1 FROM postings
)
SELECT (row_number() OVER (ORDER BY month, line, side))::INTEGER AS entry_id, account_code,
    ['sales journal', 'sales journal', 'purchase journal', 'payroll journal', 'general journal', 'general journal'][1 + line % 6] AS journal,
    least(month + roll('posted', key, 0, 27), today()) AS posted_on, amount::DECIMAL(12, 2) AS entry_amount
FROM sides;

CREATE TABLE finance.cash_balances AS
SELECT (row_number() OVER (ORDER BY back DESC, bank_account))::INTEGER AS balance_id, bank_account, today() - back::INTEGER AS balance_on,
    (base + 40 * (400 - back) + roll('balance', concat(bank_account, back), -9000, 9000))::DECIMAL(14, 2) AS balance
FROM (VALUES ('operating account', 240000), ('payroll account', 90000), ('reserve account', 500000)) AS t (bank_account, base),
    range(401) AS days (back);

CREATE TABLE finance.budgets AS
SELECT (row_number() OVER (ORDER BY month, cost_centre, version))::INTEGER AS budget_id, cost_centre, version AS budget_version,
    month::DATE AS budget_month, (roll('budget', concat(cost_centre, month::DATE), 8, 60) * 500
        * CASE version WHEN 'draft' THEN 1.15 ELSE 1 END)::DECIMAL(12, 2) AS budget_amount
FROM (VALUES ('Marketing'), ('Logistics'), ('Technology'), ('Stores'), ('Administration')) AS t (cost_centre),
    (VALUES ('approved'), ('draft')) AS v (version),
    generate_series(date_trunc('year', today()) - INTERVAL 1 YEAR, date_trunc('year', today()) + INTERVAL 11 MONTH, INTERVAL 1 MONTH) AS m (month);

CREATE TABLE finance.expenses AS
SELECT number::INTEGER AS expense_id, pick('centre', number, ['Marketing', 'Logistics', 'Technology', 'Stores', 'Administration']) AS cost_centre,
    pick('kind', number, ['travel', 'software licences', 'office supplies', 'training', 'consulting']) AS expense_kind,
    pick('vendor', number, ['Bluebird Travel', 'Paperhouse', 'Stackworks', 'Minerva Academy']) AS vendor,
    pick('approval', number, ['accepted', 'accepted', 'accepted', 'accepted', 'awaiting approval', 'declined']) AS expense_state,
    (roll('expense', number, 1500, 280000) / 100)::DECIMAL(12, 2) AS spent_amount, today() - roll('spent', number, 0, 540) AS spent_on
FROM range(1, 1201) AS numbers (number);
