-- From the supplier to the parcel. Stock is a balance: its weeks do not add up.
CREATE SCHEMA supply;
CREATE TABLE supply.suppliers AS
SELECT number::INTEGER AS supplier_id, concat(pick('maker', number, ['Aurum', 'Brightline', 'Corvid', 'Deltaic', 'Everest']), ' ',
        pick('maker form', number, ['Electronics', 'Components', 'Audio']), ' ', number) AS supplier_name,
    pick('made in', number, ['China', 'Taiwan', 'Vietnam', 'Poland', 'Mexico']) AS supplier_country, roll('lead', number, 7, 60) AS lead_time_days
FROM range(1, 17) AS numbers (number);

CREATE TABLE supply.supplier_products AS
SELECT (row_number() OVER (ORDER BY supplier_id, product_id))::INTEGER AS supply_id, supplier_id, product_id,
    (list_price * (0.5 + 0.2 * dice('unit cost', concat(supplier_id, '/', product_id))))::DECIMAL(12, 2) AS agreed_cost
FROM supply.suppliers, shop.products WHERE dice('supplies', concat(supplier_id, '/', product_id)) < 0.14;

CREATE TABLE supply.depots AS
SELECT * FROM (VALUES (1, 'Leipzig depot', 'Leipzig', 42000), (2, 'Lyon depot', 'Lyon', 26000), (3, 'Osaka depot', 'Osaka', 18000),
    (4, 'Reno depot', 'Reno', 35000)) AS t (depot_id, depot_name, depot_city, capacity);

CREATE TABLE supply.inventory AS
SELECT (row_number() OVER (ORDER BY week DESC, depot_id, product_id))::INTEGER AS snapshot_id, product_id, depot_id,
    today() - (week * 7)::INTEGER AS counted_on, CASE WHEN dice('sold out', concat(week, '/', depot_id, '/', product_id)) < 0.05 THEN 0
        ELSE roll('stock', concat(week, '/', depot_id, '/', product_id), 3, 240) END AS units_on_hand
FROM shop.products, supply.depots, range(26) AS weeks (week);

CREATE TABLE supply.purchase_orders AS
WITH made AS (
    SELECT number::INTEGER AS purchase_order_id, roll('bought from', number, 1, 220) AS pick_of, today() - roll('ordered', number, 0, 500) AS ordered_on,
        roll('units', number, 10, 300) AS units_ordered
    FROM range(1, 421) AS numbers (number)
)
SELECT purchase_order_id, supplier_id, product_id, units_ordered, agreed_cost AS unit_cost, ordered_on,
    ordered_on + lead_time_days AS expected_on,
    CASE WHEN ordered_on + lead_time_days + roll('late', purchase_order_id, -3, 12) <= today()
        THEN ordered_on + lead_time_days + roll('late', purchase_order_id, -3, 12) END AS received_on
FROM made JOIN supply.supplier_products ON supply_id = 1 + pick_of % (SELECT count(*) FROM supply.supplier_products)
    JOIN supply.suppliers USING (supplier_id);

CREATE TABLE supply.shipments AS
WITH parcels AS (
    SELECT order_id, ordered_at, status, parcel::INTEGER AS parcel, concat(order_id, '/', parcel) AS key
    FROM shop.orders, range(2) AS parcels (parcel)
    WHERE channel = 'online' AND status IN ('shipped', 'delivered', 'returned') AND (parcel = 0 OR dice('second parcel', order_id) < 0.1)
), sent AS (
    SELECT *, least(ordered_at + to_hours(roll('packed', key, 6, 60)), today() + INTERVAL '22 hours') AS shipped_at FROM parcels
)
SELECT (row_number() OVER (ORDER BY order_id, parcel))::INTEGER AS shipment_id, order_id, roll('depot', key, 1, 4) AS depot_id,
    pick('carrier', key, ['Regio Parcel', 'Regio Parcel', 'Swiftpost', 'Bluevan']) AS carrier, shipped_at, ordered_at::DATE + 4 AS promised_on,
    CASE WHEN status <> 'shipped' AND shipped_at + to_hours(roll('travel', key, 12, 110)) <= today() + INTERVAL '23 hours'
        THEN shipped_at + to_hours(roll('travel', key, 12, 110)) END AS arrived_at,
    (roll('freight', key, 390, 2400) / 100)::DECIMAL(12, 2) AS shipping_cost
FROM sent;
