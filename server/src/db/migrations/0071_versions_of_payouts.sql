-- outside a transaction
-- With which version of a connector's document a payout was handed over, and the provider's own id of it.

alter table payouts
  -- Null for a provider that is no connector.
  add column if not exists version integer,
  add column if not exists their_id text;
alter table payouts drop constraint if exists payouts_version,
  add constraint payouts_version check (version > 0) not valid;
alter table payouts validate constraint payouts_version;
alter table payouts drop constraint if exists payouts_their_id,
  add constraint payouts_their_id check (length(their_id) between 1 and 128) not valid;
alter table payouts validate constraint payouts_their_id;

grant update (their_id) on payouts to sluice_service;
