-- Agents, their wallets, orders, the journal, callbacks and incoming payments.
--
-- agent_id leads every key of wallets, orders, journal, callbacks and payments, so that the same
-- schema can be distributed by agent. Ids and times are always passed in: no sequences, defaults
-- that read a clock, triggers or procedures.

create table agents (
  agent_id bigint primary key check (agent_id > 0),
  app_id text not null unique check (app_id ~ '^[A-Za-z0-9_-]{4,64}$'),
  name text not null check (length(name) between 1 and 128),
  currency text not null check (currency in ('THB', 'VND')),
  status text not null check (status in ('active', 'suspended')),
  deposit_callback_url text,
  withdraw_callback_url text,
  deposit_fee text not null,
  withdraw_fee text not null,
  revert_fee text not null check (revert_fee in ('return', 'keep')),
  late_money text not null check (late_money in ('review', 'credit')),
  method text not null
    check (method in ('link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer')),
  expires_in_s integer not null check (expires_in_s between 1 and 2592000),
  min_deposit bigint not null,
  max_deposit bigint not null,
  min_withdraw bigint not null,
  max_withdraw bigint not null,
  rate_limit integer not null check (rate_limit between 0 and 1000000),
  allowed_ips text[] not null,
  frame_origins text[] not null,
  support text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint agents_deposit_limits
    check (min_deposit >= 1 and min_deposit <= max_deposit and max_deposit <= 1000000000000),
  constraint agents_withdraw_limits
    check (min_withdraw >= 1 and min_withdraw <= max_withdraw and max_withdraw <= 1000000000000)
);

-- Two slots: an agent cannot have more than two live secrets.
create table agent_keys (
  agent_id bigint not null references agents,
  slot smallint not null check (slot in (1, 2)),
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (agent_id, slot)
);

-- The sum of the five accounts is always zero: what the agent may use and what is held for it are
-- owed to it, clearing is the other side at the banks, fees are the operator's.
create table wallets (
  agent_id bigint primary key references agents,
  seq bigint not null check (seq >= 0),
  available bigint not null,
  held bigint not null,
  clearing bigint not null,
  fees bigint not null,
  adjustments bigint not null,
  constraint wallets_balance check (available + held + clearing + fees + adjustments = 0),
  constraint wallets_held_not_negative check (held >= 0),
  constraint wallets_bound check (
    greatest(abs(available), abs(held), abs(clearing), abs(fees), abs(adjustments))
      <= 9007199254740991
  )
);

create table orders (
  -- No foreign key to wallets: checking it would lock the wallet of every new deposit, and a hot one
  -- would be the meeting place of all its orders again. The proof looks for orders without an agent.
  agent_id bigint not null,
  order_id uuid not null,
  kind text not null check (kind in ('deposit', 'withdraw')),
  ref_id text not null check (length(ref_id) between 1 and 64),
  user_id text not null check (length(user_id) between 1 and 64),
  amount bigint not null check (amount > 0),
  fee bigint not null check (fee >= 0),
  fee_rule text not null,
  account_name text not null check (length(account_name) between 1 and 128),
  account_no text not null check (account_no ~ '^[A-Za-z0-9]{4,34}$'),
  bank_code text not null check (bank_code ~ '^[A-Z0-9]{2,16}$'),
  -- The very text the agent sent; null where it sent none.
  extra_params text check (octet_length(extra_params) <= 4096),
  status text not null,
  -- Counts the order's changes and guards each of them.
  version integer not null check (version > 0),
  -- The body that creating it was answered with, for repeats.
  answer text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  completed_at timestamptz,
  paid_amount bigint check (paid_amount > 0),
  paid_fee bigint check (paid_fee >= 0),
  provider text,
  provider_ref text,
  handed_over_at timestamptz,
  primary key (agent_id, order_id),
  unique (agent_id, ref_id),
  constraint orders_status_of_kind check (
    (kind = 'deposit' and status in ('WAITING', 'PAID', 'FAILED', 'EXPIRED', 'VOID'))
    or (kind = 'withdraw' and status in ('WAITING', 'PAID', 'FAILED', 'CANCEL', 'REVERT'))
  ),
  constraint orders_deposit_expires check ((kind = 'deposit') = (expires_at is not null)),
  constraint orders_completed check ((status = 'WAITING') = (completed_at is null)),
  constraint orders_paid check (
    (paid_amount is null) = (paid_fee is null)
    and (status not in ('PAID', 'REVERT') or paid_amount is not null)
  ),
  constraint orders_handed_over check (
    handed_over_at is null
    or (kind = 'withdraw' and provider is not null and provider_ref is not null)
  )
);

-- What expires next, over all agents.
create index orders_expiring on orders (expires_at)
  where status = 'WAITING' and kind = 'deposit';
-- What holds an agent's money.
create index orders_open_withdrawals on orders (agent_id, order_id)
  where status = 'WAITING' and kind = 'withdraw';

create table journal (
  agent_id bigint not null references wallets,
  seq bigint not null check (seq > 0),
  order_id uuid,
  event text not null check (event in (
    'withdraw_held', 'withdraw_paid', 'withdraw_failed', 'withdraw_cancelled', 'withdraw_reverted',
    'deposit_paid', 'deposit_failed', 'deposit_expired', 'deposit_void', 'deposit_taken_back',
    'adjustment'
  )),
  at timestamptz not null,
  available_change bigint not null,
  held_change bigint not null,
  clearing_change bigint not null,
  fees_change bigint not null,
  adjustments_change bigint not null,
  available bigint not null,
  held bigint not null,
  clearing bigint not null,
  fees bigint not null,
  adjustments bigint not null,
  -- Names what must count only once for this agent: a provider's payment, an operator's reference.
  once_key text check (length(once_key) between 1 and 256),
  reason text check (length(reason) between 1 and 1000),
  primary key (agent_id, seq),
  foreign key (agent_id, order_id) references orders,
  constraint journal_legs_balance check (
    available_change + held_change + clearing_change + fees_change + adjustments_change = 0
  ),
  constraint journal_balances_balance check (
    available + held + clearing + fees + adjustments = 0
  ),
  constraint journal_held_not_negative check (held >= 0),
  constraint journal_available_not_negative check (
    available >= 0 or available_change >= 0 or event in ('deposit_taken_back', 'adjustment')
  ),
  constraint journal_bound check (
    greatest(abs(available), abs(held), abs(clearing), abs(fees), abs(adjustments))
      <= 9007199254740991
  ),
  constraint journal_order_or_adjustment check ((event = 'adjustment') = (order_id is null)),
  constraint journal_once check (
    event not in ('deposit_paid', 'adjustment') or once_key is not null
  ),
  constraint journal_adjustment_has_reason check (event <> 'adjustment' or reason is not null)
);

create unique index journal_once_key on journal (agent_id, once_key) where once_key is not null;
create index journal_of_order on journal (agent_id, order_id, seq) where order_id is not null;

create table callbacks (
  agent_id bigint not null,
  seq bigint not null,
  order_id uuid not null,
  -- Fixed when the outcome happens; every attempt sends these bytes.
  body text not null,
  state text not null check (state in (
    'waiting', 'sending', 'delivered', 'exhausted', 'no_address', 'superseded', 'paused'
  )),
  created_at timestamptz not null,
  primary key (agent_id, seq),
  foreign key (agent_id, seq) references journal
);

create table payments (
  agent_id bigint not null references wallets,
  -- The provider's name and its own id of the payment.
  payment_id text not null check (length(payment_id) between 3 and 200),
  -- Null where it belongs to the agent, but to none of its orders.
  order_id uuid,
  amount bigint not null check (amount > 0),
  paid_at timestamptz not null,
  reported_at timestamptz not null,
  payer_account_no text,
  payer_account_name text,
  payer_bank_code text,
  -- returned: given back without having been credited; taken_back: credited, then lost again.
  state text not null check (state in ('waiting', 'credited', 'returned', 'taken_back')),
  -- Why it waits for a decision.
  why text check (why in ('late', 'wrong_amount', 'duplicate', 'fee', 'bound', 'unmatched')),
  credited_to text check (credited_to in ('order', 'wallet')),
  -- What a person or the bank said when it was returned.
  evidence text check (length(evidence) between 1 and 1000),
  primary key (agent_id, payment_id),
  foreign key (agent_id, order_id) references orders,
  constraint payments_waiting_has_why check (state <> 'waiting' or why is not null),
  constraint payments_credited_to check (
    (state in ('credited', 'taken_back')) = (credited_to is not null)
    and (credited_to is distinct from 'order' or order_id is not null)
  ),
  constraint payments_returned_has_evidence check (state <> 'returned' or evidence is not null)
);

-- An order is paid by one payment.
create unique index payments_one_pays on payments (agent_id, order_id)
  where state = 'credited' and credited_to = 'order';

-- How far the background proof has come for each agent, and what it found.
create table proofs (
  agent_id bigint primary key references wallets,
  -- Everything up to here has been proved at least once.
  proved_seq bigint not null check (proved_seq >= 0),
  -- Where the endless second look stands, in the journal and in the orders.
  again_seq bigint not null check (again_seq >= 0),
  again_order uuid,
  finding text,
  checked_at timestamptz not null
);

grant usage on schema sluice to sluice_service;
grant select on all tables in schema sluice to sluice_service;
grant insert, update on agent_keys, proofs to sluice_service;
grant insert on agents to sluice_service;
grant update (name, status, deposit_callback_url, withdraw_callback_url, deposit_fee, withdraw_fee,
              revert_fee, late_money, method, expires_in_s, min_deposit, max_deposit, min_withdraw,
              max_withdraw, rate_limit, allowed_ips, frame_origins, support, updated_at)
  on agents to sluice_service;
grant insert on wallets, orders, journal, callbacks, payments to sluice_service;
grant update (seq, available, held, clearing, fees, adjustments) on wallets to sluice_service;
grant update (status, version, completed_at, paid_amount, paid_fee, provider, provider_ref,
              handed_over_at) on orders to sluice_service;
grant update (state) on callbacks to sluice_service;
grant update (order_id, state, why, credited_to, evidence) on payments to sluice_service;
