-- What has left the books for files, and the keys that hold for ever all the same.

-- A stretch of an agent's journal that is in a file, with the orders that went with it. The row that ends the
-- last part stays in the journal: what follows is proved from it.
create table archive_parts (
  agent_id bigint not null references wallets,
  part integer not null check (part > 0),
  from_seq bigint not null check (from_seq > 0),
  to_seq bigint not null,
  -- The balances after the last row, and when it was written.
  available bigint not null,
  held bigint not null check (held >= 0),
  clearing bigint not null,
  fees bigint not null,
  adjustments bigint not null,
  ended_at timestamptz not null,
  -- The manifest's name in the archive's folder and its digest, which covers its files and the part before.
  name text not null check (length(name) between 1 and 200),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  orders bigint not null check (orders >= 0),
  -- Orders that were gone from the books, each in the transaction that wrote down its keys.
  removed_orders bigint not null check (removed_orders >= 0),
  state text not null check (state in ('written', 'removed')),
  made_at timestamptz not null,
  primary key (agent_id, part),
  unique (agent_id, from_seq),
  constraint archive_parts_goes_on check (to_seq >= from_seq and (part = 1) = (from_seq = 1)),
  constraint archive_parts_balance check (available + held + clearing + fees + adjustments = 0),
  constraint archive_parts_removed check (removed_orders <= orders)
);

-- Never pruned: a refId stands for one order for ever, and an order that is gone is known to have been.
create table archived_refs (
  agent_id bigint not null,
  ref_id text not null check (length(ref_id) between 1 and 64),
  order_id uuid not null,
  part integer not null check (part > 0),
  primary key (agent_id, ref_id),
  unique (agent_id, order_id)
);

-- Never pruned: the payments and references of adjustments that have counted.
create table archived_keys (
  agent_id bigint not null,
  once_key text not null check (length(once_key) between 1 and 256),
  primary key (agent_id, once_key)
);

-- Only the owner's login archives.
grant select on archive_parts, archived_refs, archived_keys to sluice_service;
