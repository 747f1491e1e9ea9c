-- Small summaries of the books, for the page that shows how business goes. A worker folds them from the journal, agent
-- by agent and in order of seq; nothing is decided by them, and they can be folded anew from the journal at any time.

-- How far an agent's journal is folded, and its balances after that row.
create table insight_folds (
  agent_id bigint primary key,
  seq bigint not null check (seq >= 0),
  -- The zone in which days begin: if another one is set, everything is folded anew.
  time_zone text not null,
  available bigint not null,
  held bigint not null,
  reserve bigint not null
);

-- Orders that no longer wait, by the hour and by the day in which they were created. Each is counted once under every
-- facet, in the status that it has; an order that changes its status moves.
create table insight_orders (
  agent_id bigint not null,
  unit text not null check (unit in ('hour', 'day')),
  at timestamptz not null,
  facet text not null check (facet in (
    'all', 'provider', 'bank', 'amount', 'hour', 'paid_within', 'called_within'
  )),
  kind text not null check (kind in ('deposit', 'withdraw')),
  status text not null
    check (status in ('PAID', 'FAILED', 'EXPIRED', 'VOID', 'CANCEL', 'REVERT')),
  value text not null check (length(value) <= 200),
  orders bigint not null,
  amount bigint not null check (amount >= 0),
  paid bigint not null check (paid >= 0),
  -- Of those, whose callback about this status was accepted.
  called bigint not null,
  primary key (agent_id, unit, at, facet, kind, status, value),
  constraint insight_orders_called check (called between 0 and orders)
);

-- What the journal's rows changed, by the hour and by the day of the row, and by the provider that the money is at.
create table insight_money (
  agent_id bigint not null,
  unit text not null check (unit in ('hour', 'day')),
  at timestamptz not null,
  -- Empty where a row moves nothing at a provider.
  provider text not null check (length(provider) <= 200),
  available bigint not null,
  held bigint not null,
  reserve bigint not null,
  fees bigint not null,
  costs bigint not null,
  primary key (agent_id, unit, at, provider)
);

-- Callbacks about an order's present status that were not accepted when they were last looked at.
create table insight_callbacks (
  agent_id bigint not null,
  seq bigint not null check (seq > 0),
  primary key (agent_id, seq)
);

grant select, insert, update (seq, time_zone, available, held, reserve) on insight_folds to sluice_service;
grant select, insert, delete, update (orders, amount, paid, called) on insight_orders to sluice_service;
grant select, insert, delete, update (available, held, reserve, fees, costs) on insight_money
  to sluice_service;
grant select, insert, delete on insight_callbacks to sluice_service;
