INCLUDE PERFETTO MODULE slices.with_context; CREATE OR REPLACE PERFETTO TABLE t AS SELECT id FROM thread_slice; select * from t; drop table t
