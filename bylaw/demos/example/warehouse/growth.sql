-- Visits, leads and experiments. Robots browse too, and most visitors never say who they are.
CREATE SCHEMA growth;
CREATE TABLE growth.web_sessions AS
WITH visits AS (
    SELECT number::INTEGER AS session_id, moment('session', number, 420) AS started_at,
        pick('source', number, ['direct', 'direct', 'organic search', 'organic search', 'paid search', 'paid social',
            'newsletter link', 'affiliate link']) AS traffic_source,
        dice('bot', number) < 0.08 AS is_bot, dice('bounced', number) < 0.42 AS is_bounce
    FROM range(1, 6001) AS numbers (number)
)
SELECT session_id, concat('v', roll('visitor', session_id, 1, 2600)) AS visitor_key,
    CASE WHEN NOT is_bot AND dice('known', session_id) < 0.35 THEN roll('known who', session_id, 1, 420) END AS customer_id,
    CASE WHEN traffic_source LIKE 'paid%' THEN roll('ad', session_id, 1, 17) END AS campaign_id, started_at, traffic_source,
    pick('device', session_id, ['desktop', 'desktop', 'mobile', 'mobile', 'mobile', 'tablet']) AS device,
    pick('landing', session_id, ['home page', 'product page', 'product page', 'sale page', 'help page']) AS landing_page,
    CASE WHEN is_bounce THEN 1 ELSE roll('pages', session_id, 2, 18) END AS page_views,
    CASE WHEN is_bounce THEN NULL ELSE roll('seconds', session_id, 15, 1500) END AS duration_seconds,
    NOT is_bot AND NOT is_bounce AND dice('bought', session_id) < 0.09 AS has_purchase, is_bot
FROM visits;

CREATE TABLE growth.leads AS
WITH made AS (
    SELECT number::INTEGER AS lead_id, moment('lead', number, 540) AS created_at,
        pick('stage', number, ['new', 'contacted', 'contacted', 'qualified', 'qualified', 'converted', 'disqualified']) AS lead_stage
    FROM range(1, 901) AS numbers (number)
)
SELECT lead_id, CASE WHEN dice('lead campaign', lead_id) < 0.6 THEN roll('lead of', lead_id, 1, 17) END AS campaign_id,
    pick('lead source', lead_id, ['web form', 'web form', 'trade fair', 'partner', 'cold call']) AS lead_source, lead_stage,
    pick('lead industry', lead_id, ['hospitality', 'education', 'healthcare', 'logistics']) AS industry,
    roll('lead score', lead_id, 0, 100) AS lead_score, concat('lead', lead_id, '@example.org') AS contact_email, created_at,
    CASE WHEN lead_stage IN ('qualified', 'converted')
        THEN least(created_at::DATE + roll('qualify', lead_id, 1, 30), today()) END AS qualified_on
FROM made;

CREATE TABLE growth.experiments AS
SELECT number::INTEGER AS experiment_id, concat(pick('tested', number, ['Checkout', 'Search', 'Home page', 'Price tag', 'Plus offer']),
        ' test ', number) AS experiment_name,
    pick('goal', number, ['purchase', 'signup', 'basket size']) AS primary_goal,
    CASE WHEN number > 12 THEN 'draft' WHEN number > 9 THEN 'running' ELSE 'concluded' END AS experiment_state,
    CASE WHEN number > 12 THEN NULL ELSE today() - (430 - number::INTEGER * 32) END AS started_on,
    CASE WHEN number > 9 THEN NULL ELSE today() - (430 - number::INTEGER * 32) + 28 END AS ended_on
FROM range(1, 15) AS numbers (number);

CREATE TABLE growth.experiment_assignments AS
SELECT (row_number() OVER (ORDER BY experiment_id, customer_id))::INTEGER AS assignment_id, experiment_id, customer_id,
    CASE WHEN dice('variant', concat(experiment_id, '/', customer_id)) < 0.5 THEN 'control' ELSE 'treatment' END AS variant,
    started_on + roll('assigned', concat(experiment_id, '/', customer_id), 0, 27) AS assigned_on,
    dice('experiment bought', concat(experiment_id, '/', customer_id)) < 0.11 + 0.04 * (experiment_id % 2) AS has_converted
FROM growth.experiments, shop.customers
WHERE started_on IS NOT NULL AND dice('in', concat(experiment_id, '/', customer_id)) < 0.3;

CREATE TABLE growth.referrals AS
SELECT number::INTEGER AS referral_id, roll('referrer', number, 1, 200) AS referrer_id, 200 + number::INTEGER AS referred_id,
    pick('referral', number, ['invited', 'joined', 'joined', 'rewarded']) AS referral_state,
    CASE WHEN pick('referral', number, ['invited', 'joined', 'joined', 'rewarded']) = 'rewarded' THEN 15.00 ELSE 0.00 END::DECIMAL(12, 2)
        AS reward_amount,
    today() - roll('invited', number, 0, 700) AS invited_on
FROM range(1, 161) AS numbers (number);

CREATE TABLE growth.newsletter_subscribers AS
WITH made AS (
    SELECT number::INTEGER AS subscriber_id, today() - roll('subscribed', number, 0, 800) AS subscribed_on FROM range(1, 701) AS n (number)
)
SELECT subscriber_id, CASE WHEN subscriber_id % 2 = 0 THEN subscriber_id // 2 END AS customer_id,
    concat('reader', subscriber_id, '@example.org') AS email,
    pick('form', subscriber_id, ['footer form', 'checkout box', 'popup', 'store tablet']) AS signup_form, subscribed_on,
    CASE WHEN dice('unsubscribed', subscriber_id) < 0.22 AND subscribed_on + 20 < today()
        THEN subscribed_on + 20 + floor(dice('when unsubscribed', subscriber_id) * (today() - subscribed_on - 20))::INTEGER END
        AS unsubscribed_on
FROM made;
