CREATE TEMPORARY VIEW numbers AS SELECT id AS n, id % 23 AS rest FROM range(120000);
SELECT 'RESULT', rest, sum(n) FROM numbers GROUP BY rest ORDER BY rest LIMIT 4;
SELECT n FROM a_table_that_is_not_there;
SELECT 'RESULT', 'of a statement after the one that fails';
