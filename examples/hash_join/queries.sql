-- What the example must answer, on the tables that it wrote.
CREATE TABLE orders(o_orderkey INTEGER, o_orderdate TEXT, o_orderpriority TEXT);
CREATE TABLE lineitem(l_orderkey INTEGER, l_shipdate TEXT, l_commitdate TEXT, l_receiptdate TEXT, l_shipmode TEXT);
.mode csv
.import orders.csv orders
.import lineitem.csv lineitem
CREATE INDEX line_of ON lineitem(l_orderkey);
CREATE INDEX order_of ON orders(o_orderkey);
.mode list
.separator ,
SELECT 'Q12', l_shipmode,
       SUM(o_orderpriority IN ('1-URGENT', '2-HIGH')), SUM(o_orderpriority NOT IN ('1-URGENT', '2-HIGH'))
FROM orders JOIN lineitem ON o_orderkey = l_orderkey
WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= '1994-01-01' AND l_receiptdate < '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode;
SELECT 'Q4', o_orderpriority, COUNT(*) FROM orders
WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01'
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority;
