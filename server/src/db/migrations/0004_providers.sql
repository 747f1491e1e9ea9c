-- Who moves the money: providers and their routes, payouts under way, what providers reported.

-- The operator's word on each provider; one without a row is on.
create table providers (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{1,31}$'),
  -- draining: takes nothing new, what it has goes on; off: is not called at all.
  state text not null check (state in ('on', 'draining', 'off')),
  updated_at timestamptz not null
);

-- Which orders a provider gets. One without routes for a direction gets all that it can take.
create table provider_routes (
  provider text not null,
  route text not null check (route ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  direction text not null check (direction in ('deposit', 'withdraw')),
  currency text not null check (currency in ('THB', 'VND')),
  -- Null: every bank.
  banks text[] check (cardinality(banks) between 1 and 200),
  -- In whole units.
  min_amount bigint not null,
  max_amount bigint not null,
  -- The lowest is tried first; among equals, chance decides by weight.
  preference integer not null check (preference between 1 and 1000),
  weight integer not null check (weight between 1 and 1000),
  primary key (provider, route),
  constraint provider_routes_amounts check (min_amount >= 1 and min_amount <= max_amount)
);

-- A withdrawal handed to a provider. Written before the provider is called, so that no payout can
-- be under way that is not here; a further attempt is with another provider, after a sure "no".
create table payouts (
  agent_id bigint not null,
  order_id uuid not null,
  attempt integer not null check (attempt between 1 and 100),
  provider text not null check (length(provider) between 2 and 32),
  -- What the provider knows it by.
  reference text not null check (length(reference) between 1 and 100),
  -- Drawn by whoever handed it over, which calls the provider: after a lost commit it knows its own.
  token uuid not null,
  state text not null check (state in (
    'handed', 'accepted', 'unknown', 'not_found', 'paid', 'rejected', 'cancelled', 'returned'
  )),
  handed_at timestamptz not null,
  asks integer not null check (asks >= 0),
  -- When the provider is asked next, for as long as the end is not known.
  ask_at timestamptz,
  -- What the provider said last, in words.
  said text check (length(said) <= 1000),
  -- A person's word, where it was a person who ended it.
  evidence text check (length(evidence) between 1 and 1000),
  primary key (agent_id, order_id, attempt),
  foreign key (agent_id, order_id) references orders,
  constraint payouts_asked_while_open check (
    (state in ('handed', 'accepted', 'unknown', 'not_found')) = (ask_at is not null)
  )
);

-- How a deposit can be paid, where a provider had to be called for it: the page shows it.
alter table orders add column instructions text constraint orders_instructions
  check (instructions is null or (kind = 'deposit' and octet_length(instructions) <= 4096));

create unique index payouts_reference on payouts (agent_id, provider, reference);
-- At most one attempt of a withdrawal is open.
create unique index payouts_one_open on payouts (agent_id, order_id) where ask_at is not null;
create index payouts_due on payouts (ask_at) where ask_at is not null;

-- Withdrawals that no provider has yet.
create index orders_to_hand_over on orders (agent_id, order_id)
  where status = 'WAITING' and kind = 'withdraw' and handed_over_at is null;

-- What providers reported, as it came, once for each of their own ids.
create table notices (
  -- 0 where it names no agent.
  agent_id bigint not null check (agent_id >= 0),
  provider text not null check (length(provider) between 2 and 32),
  event_id text not null check (length(event_id) between 1 and 200),
  received_at timestamptz not null,
  body bytea not null check (octet_length(body) <= 65536),
  -- Null until it has been acted on.
  result text check (result in ('applied', 'unchanged', 'refused', 'waiting')),
  detail text check (length(detail) <= 1000),
  primary key (agent_id, provider, event_id)
);

-- Money that came in for nobody we know. A person says whose it is, or gives it back.
create table unmatched_payments (
  -- The provider's name and its own id of the payment.
  payment_id text primary key check (length(payment_id) between 3 and 200),
  reference text not null check (length(reference) <= 200),
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  paid_at timestamptz not null,
  reported_at timestamptz not null,
  payer_account_no text,
  payer_account_name text,
  payer_bank_code text,
  state text not null check (state in ('waiting', 'assigned', 'returned')),
  -- Whose it was found to be; from then on it is a payment of that agent.
  assigned_to bigint,
  evidence text check (length(evidence) between 1 and 1000),
  decided_at timestamptz,
  constraint unmatched_payments_decided check (
    (state = 'waiting') = (decided_at is null)
    and (state = 'assigned') = (assigned_to is not null)
    and (state <> 'returned' or evidence is not null)
  )
);

create index unmatched_payments_waiting on unmatched_payments (reported_at) where state = 'waiting';
-- A payment is one payment, whatever reference it is reported with later.
create index payments_by_id on payments (payment_id);
create index payments_waiting on payments (agent_id, reported_at) where state = 'waiting';

grant select on providers, provider_routes, payouts, notices, unmatched_payments to sluice_service;
grant insert, update on providers to sluice_service;
grant insert, update, delete on provider_routes to sluice_service;
grant insert on payouts, notices, unmatched_payments to sluice_service;
grant update (state, asks, ask_at, said, evidence) on payouts to sluice_service;
grant update (result, detail) on notices to sluice_service;
grant update (state, assigned_to, evidence, decided_at) on unmatched_payments to sluice_service;
grant update (answer, instructions) on orders to sluice_service;
