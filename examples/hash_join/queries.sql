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
SELECT 'in time', o_orderpriority, COUNT(*) FROM orders
WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01'
  AND NOT EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority;
SELECT 'overdue', lines, COUNT(*)
FROM (SELECT o_orderkey, COUNT(l_orderkey) AS lines
      FROM orders LEFT JOIN lineitem ON l_orderkey = o_orderkey AND l_commitdate < l_receiptdate
      WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01' GROUP BY o_orderkey)
GROUP BY lines ORDER BY lines;
SELECT 'pairs', a.l_shipmode, COUNT(*)
FROM lineitem AS a JOIN lineitem AS b ON a.l_orderkey = b.l_orderkey
WHERE a.l_shipmode IN ('MAIL', 'SHIP') AND a.l_commitdate < a.l_receiptdate AND a.l_shipdate < a.l_commitdate
  AND a.l_receiptdate >= '1994-01-01' AND a.l_receiptdate < '1995-01-01' AND b.l_commitdate < b.l_receiptdate
GROUP BY a.l_shipmode ORDER BY a.l_shipmode;
