-- Rows that change all the time leave an old version behind with every change. These tables are cleaned up
-- early and at full speed, and where a change touches no index, pages have room for the next version beside
-- the old one, so that no index is written. Setting this waits for nobody who reads or writes.

alter table wallets set (fillfactor = 20, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table callback_lanes set (fillfactor = 20, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table proofs set (fillfactor = 20, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table callback_claims set (autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- Large ones: a fifth of them would be millions of rows to clean up at once. What is only ever inserted
-- is marked as seen by all, so that the proof and the lists need not look at every row.
alter table callbacks set (autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table payouts set (autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table orders set (autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
alter table journal set (autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05);
