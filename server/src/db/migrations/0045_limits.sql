-- Limits and lists that new orders are measured against, what counts against them, and what they said.

create table limit_rules (
  -- 0: each agent by itself.
  agent_id bigint not null check (agent_id >= 0),
  name text not null check (name ~ '^[a-z0-9][a-z0-9-]{1,39}$'),
  kind text not null check (kind in ('deposit', 'withdraw')),
  measure text not null check (measure in ('amount', 'orders', 'new_account', 'blocked', 'allowed')),
  -- Whose orders are added up, and over which time; an amount may be of one order alone.
  per text check (per in ('agent', 'user', 'account')),
  period text check (period in ('order', 'hour', 'day', 'month')),
  -- In minor units, or a number of orders.
  most bigint check (most >= 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  -- How long a payout to an account that was never paid before waits.
  hours integer check (hours between 1 and 720),
  -- What a list is of.
  field text check (field in ('account', 'name', 'bank', 'user')),
  outcome text not null check (outcome in ('refuse', 'hold', 'wait', 'note')),
  updated_at timestamptz not null,
  updated_by text not null check (length(updated_by) between 3 and 254),
  primary key (agent_id, name),
  constraint limit_rules_shape check (case measure
    when 'amount' then per is not null and period is not null and most is not null
      and coalesce(currency, '') ~ '^[A-Z]{3}$' and field is null
    when 'orders' then per is not null and period is not null and period <> 'order' and most is not null
      and currency is null and field is null
    when 'new_account' then per is null and period is null and most is null and currency is null
      and field is null and kind = 'withdraw' and outcome <> 'refuse'
    else per is null and period is null and most is null and currency is null and field is not null end),
  constraint limit_rules_wait check (
    (outcome = 'wait') = (hours is not null) and (outcome <> 'wait' or measure = 'new_account')),
  constraint limit_rules_hold check (outcome <> 'hold' or kind = 'withdraw')
);

-- What is on the lists, as orders are compared with it.
create table limit_entries (
  agent_id bigint not null,
  name text not null,
  value text not null check (length(value) between 1 and 200),
  primary key (agent_id, name, value),
  foreign key (agent_id, name) references limit_rules
);

-- What is added up for an agent, and since when: all of its orders from then on that did not come to nothing.
create table limit_counting (
  agent_id bigint not null check (agent_id > 0),
  kind text not null check (kind in ('deposit', 'withdraw')),
  per text not null check (per in ('agent', 'user', 'account', 'payee')),
  counts_from timestamptz not null,
  primary key (agent_id, kind, per)
);

-- By quarters of an hour, which days and hours of every time zone are made of.
create table limit_uses (
  agent_id bigint not null check (agent_id > 0),
  kind text not null check (kind in ('deposit', 'withdraw')),
  per text not null check (per in ('agent', 'user', 'account')),
  -- The user, or the account with its bank; empty for the agent.
  subject text not null check (length(subject) <= 300),
  starts_at timestamptz not null,
  amount bigint not null check (amount >= 0),
  orders bigint not null check (orders >= 0),
  primary key (agent_id, kind, per, subject, starts_at),
  constraint limit_uses_quarter check (mod(extract(epoch from starts_at), 900) = 0)
);
create index limit_uses_by_time on limit_uses (agent_id, kind, per, starts_at);

-- The accounts that were paid to before, each with an order that paid it.
create table limit_payees (
  agent_id bigint not null check (agent_id > 0),
  account text not null check (length(account) between 1 and 300),
  order_id uuid not null,
  primary key (agent_id, account)
);

-- What the limits said about an order that was taken: written with it, and never changed.
create table limit_checks (
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  outcome text not null check (outcome in ('hold', 'wait', 'note')),
  wait_until timestamptz,
  words text not null check (length(words) between 1 and 1000),
  at timestamptz not null,
  primary key (agent_id, order_id),
  constraint limit_checks_wait check (outcome <> 'wait' or wait_until is not null)
);

grant select, insert, delete on limit_rules, limit_entries, limit_counting, limit_uses, limit_payees
  to sluice_service;
grant update (kind, measure, per, period, most, currency, hours, field, outcome, updated_at, updated_by)
  on limit_rules to sluice_service;
grant update (counts_from) on limit_counting to sluice_service;
grant update (amount, orders) on limit_uses to sluice_service;
grant select, insert on limit_checks to sluice_service;
