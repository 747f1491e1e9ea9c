-- outside a transaction
-- With which version and use of a connector a payout was handed over, and the provider's own id of it.

alter table payouts
  -- Null for a provider that is no connector.
  add column if not exists version integer,
  add column if not exists use integer,
  add column if not exists their_id text,
  -- Nothing of it has left for the provider: it may be sent, whatever the provider promises.
  add column if not exists unsent boolean not null default false;
alter table payouts drop constraint if exists payouts_version,
  add constraint payouts_version check ((version is null) = (use is null)) not valid;
alter table payouts validate constraint payouts_version;
alter table payouts drop constraint if exists payouts_use,
  add constraint payouts_use foreign key (provider, use, version)
    references connector_uses (connector, n, version) not valid;
alter table payouts validate constraint payouts_use;
alter table payouts drop constraint if exists payouts_their_id,
  add constraint payouts_their_id check (length(their_id) between 1 and 128) not valid;
alter table payouts validate constraint payouts_their_id;

grant update (their_id, unsent) on payouts to sluice_service;
