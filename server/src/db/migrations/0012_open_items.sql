-- What a provider says of a payout and what the books say, where both cannot be true.

-- A person finds out who is right. Who looks into an item and what was noted on it is in payment_notes,
-- under its item_id: that never has a colon, and a payment's id always has one.
create table open_items (
  agent_id bigint not null references wallets,
  -- The kind and the payout's reference: the same said again is the same item.
  item_id text not null check (length(item_id) between 3 and 200 and item_id not like '%:%'),
  kind text not null check (kind in ('paid_after_failed', 'paid_twice', 'failed_after_paid')),
  order_id uuid not null,
  provider text not null check (length(provider) between 2 and 32),
  reference text not null check (length(reference) between 1 and 100),
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  -- What the provider said of the payout, last; as the state it would have led to.
  provider_said text not null check (provider_said in ('PAID', 'REVERT', 'FAILED', 'CANCEL')),
  -- What the order said when it was first told, and with which provider it was.
  order_status text not null,
  order_provider text,
  opened_at timestamptz not null,
  closed_at timestamptz,
  -- order_paid: the order was taken to PAID by this very payout; looked_into: a person settled it otherwise.
  resolution text check (resolution in ('order_paid', 'looked_into')),
  -- Null where it was closed by what became of the order.
  closed_by text check (length(closed_by) between 3 and 254),
  evidence text check (length(evidence) between 1 and 1000),
  primary key (agent_id, item_id),
  foreign key (agent_id, order_id) references orders,
  constraint open_items_closed check (
    (closed_at is null) = (resolution is null)
    and (closed_at is null) = (evidence is null)
    and (closed_by is not null) = (resolution is not distinct from 'looked_into')
  )
);

create index open_items_open on open_items (agent_id, opened_at) where closed_at is null;
create index open_items_of_order on open_items (agent_id, order_id);

-- Whoever claims a payout, keeps it from being claimed or leaves it to be asked about takes a turn, and
-- writes only while no other turn was taken: no process has to know the database's time for that.
alter table payouts add column turn integer not null default 0;

grant select, insert on open_items to sluice_service;
grant update (provider_said, closed_at, resolution, closed_by, evidence) on open_items
  to sluice_service;
grant update (turn) on payouts to sluice_service;
