-- outside a transaction
-- Bank accounts of the operator as providers: what is expected at each, and what its bank reports.

-- A bank account may have a name of one letter.
alter table providers drop constraint if exists providers_name_check,
  add constraint providers_name_check check (name ~ '^[a-z][a-z0-9-]{0,31}$') not valid;
alter table providers validate constraint providers_name_check;

-- Rows are never deleted: a name stays taken for ever.
create table if not exists bank_accounts (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,31}$' and name <> 'sandbox'),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Empty where the currency needs none.
  bank_code text not null check (bank_code ~ '^[A-Z0-9]{0,11}$'),
  account_no text not null check (account_no ~ '^[A-Za-z0-9]{4,34}$'),
  -- In live, one row per account of a bank: reported by two, its money would count twice. Null in the sandbox.
  only_one text unique check (length(only_one) between 4 and 60),
  -- Numbers that it had before, by commas: payers of older orders still pay to these.
  former_numbers text not null check (length(former_numbers) <= 4000),
  account_name text not null check (length(account_name) between 1 and 100),
  city text check (length(city) between 1 and 50),
  address text check (length(address) between 1 and 200),
  qr_kind text not null check (qr_kind ~ '^[a-z-]{3,20}$'),
  qr_value text check (length(qr_value) between 1 and 1000),
  -- How money that arrives names its order.
  match text not null check (match in ('code', 'amount', 'code+amount')),
  -- How many surplus steps tell equal amounts apart, and how long a code and an amount stay expected
  -- after the order's end.
  surplus_steps integer not null check (surplus_steps between 1 and 9999),
  hold_s integer not null check (hold_s between 0 and 2592000),
  -- In minor units: how much the account may be asked to take in a day; null: any amount.
  day_limit bigint check (day_limit > 0),
  feed text not null check (feed in ('signed', 'token', 'none')),
  -- Sealed, in base64.
  feed_secret text check (length(feed_secret) <= 500),
  zone text not null check (length(zone) between 1 and 50),
  -- How the bank's CSV files are read, as JSON.
  csv_profile text check (octet_length(csv_profile) <= 8192),
  -- Account numbers of the operator's own, by commas: transfers from these are nobody's deposits.
  own_accounts text not null check (length(own_accounts) <= 4000),
  -- It takes deposits from then on.
  confirmed_at timestamptz,
  confirmed_by text check (length(confirmed_by) between 3 and 254),
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 3 and 254),
  version integer not null check (version > 0),
  constraint bank_accounts_feed_secret check ((feed = 'none') = (feed_secret is null)),
  constraint bank_accounts_confirmed check ((confirmed_at is null) = (confirmed_by is null))
);

-- What a deposit is recognised by. Committed before its order, and never deleted: money may come late.
create table if not exists expected_deposits (
  account text not null references bank_accounts,
  code text not null check (code ~ '^[0-9A-Z]{13}$'),
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  user_id text not null,
  amount bigint not null check (amount > 0),
  payable bigint not null check (payable >= amount),
  -- Whether the payable amount alone names the order.
  by_amount boolean not null,
  -- The account that the payer said to pay from: its letters and digits.
  payer_account_no text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  held_until timestamptz not null,
  -- reserved: the order may not be there yet; released: its amount may be used again.
  state text not null check (state in ('reserved', 'open', 'released')),
  primary key (account, code),
  constraint expected_deposits_times check (created_at <= expires_at and expires_at <= held_until)
);
create unique index if not exists expected_amounts on expected_deposits (account, payable)
  where by_amount and state <> 'released';
create index if not exists expected_by_amount on expected_deposits (account, payable, created_at);
create index if not exists expected_by_payer on expected_deposits (account, payer_account_no, payable);
create index if not exists expected_by_code on expected_deposits (code);
create index if not exists expected_by_agent on expected_deposits (account, agent_id)
  where state <> 'released';
create index if not exists expected_reserved on expected_deposits (created_at)
  where state = 'reserved';
create index if not exists expected_to_release on expected_deposits (held_until)
  where state = 'open';

-- Files as they came, encrypted.
create table if not exists bank_files (
  account text not null references bank_accounts,
  file_id uuid not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  name text not null check (length(name) between 1 and 255),
  size integer not null check (size >= 0),
  bytes bytea not null,
  -- console and command line: brought by a person; folder: fetched from the bank.
  via text not null check (via in ('console', 'command', 'folder')),
  brought_by text not null check (length(brought_by) between 3 and 254),
  received_at timestamptz not null,
  -- Why nothing was taken from it; null if it was read.
  fault text check (length(fault) between 1 and 2000),
  primary key (account, file_id),
  unique (account, sha256)
);

create table if not exists bank_statements (
  account text not null references bank_accounts,
  statement_id uuid not null,
  file_id uuid not null,
  source text not null check (source in ('intraday', 'statement')),
  -- As the bank names it.
  bank_id text check (length(bank_id) <= 100),
  bank_seq text check (length(bank_seq) <= 40),
  from_day date,
  to_day date,
  opening bigint,
  closing bigint,
  entries integer not null check (entries >= 0),
  -- The sum of the booked entries.
  booked bigint not null,
  read_at timestamptz not null,
  primary key (account, statement_id),
  foreign key (account, file_id) references bank_files
);
create index if not exists bank_statements_by_day on bank_statements (account, to_day);

-- One bank movement, however often it is reported. Only movements are booked.
create table if not exists bank_movements (
  account text not null references bank_accounts,
  movement_id uuid not null,
  -- Positive: money came in.
  amount bigint not null check (amount <> 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  booked_on date not null,
  booked_at timestamptz,
  -- What the payer wrote, as the bank gives it.
  text text not null check (length(text) <= 4000),
  payer_account_no text check (length(payer_account_no) <= 64),
  payer_name text check (length(payer_name) <= 200),
  payer_bank text check (length(payer_bank) <= 64),
  is_return boolean not null,
  -- unconfirmed: only a person says so; new: to be matched; matched: to be booked as decided; booked: it is in
  -- the books; unexplained: a person has to say what it was.
  state text not null check (state in ('unconfirmed', 'new', 'matched', 'booked', 'unexplained')),
  -- The decision, written before the books change: booking it again does the same.
  agent_id bigint check (agent_id > 0),
  order_id uuid,
  paid_at timestamptz,
  why text check (why in ('unmatched', 'ambiguous', 'wrong_provider')),
  -- The movement that this one takes back.
  returns uuid,
  -- What it was, if it is booked.
  explained_by text check (explained_by in (
    'payment', 'payment_taken_back', 'payment_returned', 'bank_fee', 'interest', 'own_transfer', 'correction'
  )),
  -- What was found of it, in words.
  detail text check (length(detail) <= 1000),
  reported_at timestamptz not null,
  act_at timestamptz,
  tries integer not null default 0 check (tries >= 0),
  primary key (account, movement_id),
  constraint bank_movements_explained check (
    (state in ('matched', 'booked')) = (explained_by is not null)
  ),
  constraint bank_movements_to_act_on check ((state in ('new', 'matched')) = (act_at is not null)),
  constraint bank_movements_order check ((agent_id is null) = (order_id is null))
);
create unique index if not exists bank_movements_returned on bank_movements (account, returns)
  where returns is not null;
create index if not exists bank_movements_due on bank_movements (act_at) where act_at is not null;
create index if not exists bank_movements_by_day on bank_movements (account, booked_on, movement_id);
create index if not exists bank_movements_by_amount on bank_movements (account, amount, booked_on);

-- Every line of every source that reports a movement.
create table if not exists bank_reports (
  account text not null references bank_accounts,
  source text not null check (source in ('push', 'intraday', 'statement')),
  report_key text not null check (length(report_key) between 1 and 100),
  movement_id uuid not null,
  -- Null for a push.
  file_id uuid,
  statement_id uuid,
  line integer,
  amount bigint not null check (amount <> 0),
  booked_on date not null,
  booked_at timestamptz,
  balance_after bigint,
  -- The bank's ids, and the texts and the payer, as JSON: pairing compares them.
  ids text not null check (octet_length(ids) <= 4096),
  text text not null check (length(text) <= 4000),
  payer_account_no text check (length(payer_account_no) <= 64),
  -- Whether it is the bank's word, and not only a person's who brought a file.
  is_trusted boolean not null,
  reported_at timestamptz not null,
  primary key (account, source, report_key),
  foreign key (account, movement_id) references bank_movements,
  constraint bank_reports_origin check ((source = 'push') = (file_id is null))
);
create index if not exists bank_reports_of_movement on bank_reports (account, movement_id);
create index if not exists bank_reports_of_statement on bank_reports (account, statement_id);

-- The amount that a deposit is to be paid with, where it is not the amount itself.
alter table orders add column if not exists payable bigint;
alter table orders drop constraint if exists orders_payable,
  add constraint orders_payable
    check (payable is null or (kind = 'deposit' and payable > amount)) not valid;
alter table orders validate constraint orders_payable;

alter table unmatched_payments drop constraint if exists unmatched_payments_why_check,
  add constraint unmatched_payments_why_check check (why in (
    'unmatched', 'wrong_currency', 'wrong_provider', 'claimed_twice', 'ambiguous'
  )) not valid;
alter table unmatched_payments validate constraint unmatched_payments_why_check;

grant select, insert on bank_accounts, expected_deposits, bank_files, bank_statements, bank_movements,
  bank_reports to sluice_service;
grant update (account_no, former_numbers, only_one, account_name, bank_code, city, address, qr_kind, qr_value, match, surplus_steps,
  hold_s, day_limit, feed, feed_secret, zone, csv_profile, own_accounts, confirmed_at, confirmed_by,
  version) on bank_accounts to sluice_service;
grant update (state) on expected_deposits to sluice_service;
grant update (fault) on bank_files to sluice_service;
grant update (state, explained_by, detail, act_at, tries, booked_on, booked_at, text, payer_account_no,
  payer_name, payer_bank, is_return, agent_id, order_id, paid_at, why, returns) on bank_movements
  to sluice_service;
grant update (is_trusted) on bank_reports to sluice_service;
