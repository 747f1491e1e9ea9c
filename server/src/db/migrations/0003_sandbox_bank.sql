-- The book of the sandbox's bank: an outside party, so a schema of its own, without keys into ours.

create schema sandbox_bank;

-- Deposits that were announced with a story. Money may come in for any other reference too.
create table sandbox_bank.deposits (
  reference text primary key check (char_length(reference) between 1 and 128),
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  expires_at timestamptz not null,
  payer_account_no text not null,
  payer_account_name text not null,
  payer_bank_code text not null,
  story text not null,
  created_at timestamptz not null
);

create table sandbox_bank.payouts (
  reference text primary key check (char_length(reference) between 1 and 128),
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  payee_account_no text not null,
  payee_account_name text not null,
  payee_bank_code text not null,
  story text,
  state text not null check (state in ('accepted', 'paid', 'rejected', 'returned', 'cancelled')),
  created_at timestamptz not null
);

-- Money that somebody transferred to the bank's customer.
create table sandbox_bank.payments (
  payment_no bigint generated always as identity primary key,
  reference text not null check (char_length(reference) between 1 and 128),
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  payer_account_no text,
  payer_account_name text,
  payer_bank_code text,
  paid_at timestamptz not null,
  -- Asking for a transfer again with the same key is the same transfer.
  once_key text unique check (char_length(once_key) between 1 and 200),
  taken_back_at timestamptz,
  constraint payments_payer check (payer_account_no is not null
    or (payer_account_name is null and payer_bank_code is null))
);

create index payments_by_reference on sandbox_bank.payments (reference, payment_no);

-- What the bank will do by itself, and when: the steps of the stories.
create table sandbox_bank.acts (
  act_no bigint generated always as identity primary key,
  party text not null check (party in ('deposit', 'payout')),
  reference text not null,
  step integer not null check (step >= 0),
  due_at timestamptz not null,
  played_at timestamptz,
  unique (party, reference, step)
);

create index acts_due on sandbox_bank.acts (due_at) where played_at is null;

-- What the bank has to tell: written with what it is about, sent until it is accepted.
create table sandbox_bank.notices (
  notice_no bigint generated always as identity primary key,
  reference text not null,
  event jsonb not null check (jsonb_typeof(event) = 'object'),
  -- How many times it is still to be accepted: this bank repeats itself.
  copies_left integer not null check (copies_left >= 0),
  attempts integer not null check (attempts >= 0),
  next_at timestamptz not null,
  lease_until timestamptz,
  accepted_at timestamptz,
  -- What the answer said became of the event.
  result text check (result in ('applied', 'unchanged', 'refused', 'waiting')),
  detail text,
  constraint notices_told_or_due check (accepted_at is not null or copies_left > 0),
  constraint notices_result_when_accepted check (result is null or accepted_at is not null)
);

create index notices_due on sandbox_bank.notices (next_at) where copies_left > 0;
create index notices_untold on sandbox_bank.notices (reference, notice_no)
  where accepted_at is null;
create index notices_by_reference on sandbox_bank.notices (reference, notice_no);

grant usage on schema sandbox_bank to sluice_service;
grant select, insert on all tables in schema sandbox_bank to sluice_service;
grant update (state) on sandbox_bank.payouts to sluice_service;
grant update (taken_back_at) on sandbox_bank.payments to sluice_service;
grant update (played_at) on sandbox_bank.acts to sluice_service;
grant update (copies_left, attempts, next_at, lease_until, accepted_at, result, detail)
  on sandbox_bank.notices to sluice_service;
