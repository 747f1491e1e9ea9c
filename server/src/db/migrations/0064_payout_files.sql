-- outside a transaction
-- Bank accounts that pay out by files: which withdrawals are in which file, who let it go, what the bank said.

alter table bank_accounts
  add column if not exists payout text not null default 'none',
  add column if not exists payout_format text,
  -- Times of the bank's day by commas, after which a file is executed on the next banking day.
  add column if not exists payout_cutoffs text not null default '',
  -- Days by commas on which the bank does not work, beside Saturdays and Sundays.
  add column if not exists payout_holidays text not null default '',
  -- In minor units: the most in one file, and in the files approved in a day; null: any amount.
  add column if not exists payout_file_limit bigint,
  add column if not exists payout_day_limit bigint;
alter table bank_accounts drop constraint if exists bank_accounts_payout_check,
  add constraint bank_accounts_payout_check check (payout in ('none', 'file')) not valid;
alter table bank_accounts validate constraint bank_accounts_payout_check;
alter table bank_accounts drop constraint if exists bank_accounts_payout_format,
  add constraint bank_accounts_payout_format check (
    length(payout_format) between 1 and 40 and (payout = 'none' or payout_format is not null)) not valid;
alter table bank_accounts validate constraint bank_accounts_payout_format;
alter table bank_accounts drop constraint if exists bank_accounts_payout_days,
  add constraint bank_accounts_payout_days check (
    length(payout_cutoffs) <= 100 and length(payout_holidays) <= 4000) not valid;
alter table bank_accounts validate constraint bank_accounts_payout_days;
alter table bank_accounts drop constraint if exists bank_accounts_payout_limits,
  add constraint bank_accounts_payout_limits check (payout_file_limit > 0 and payout_day_limit > 0) not valid;
alter table bank_accounts validate constraint bank_accounts_payout_limits;

create table if not exists payout_files (
  account text not null references bank_accounts,
  file_id uuid not null,
  state text not null check (state in (
    'draft', 'approving', 'approved', 'exported', 'sent', 'acknowledged', 'closed', 'cancelled')),
  -- Counts the lists that were shown for approval.
  round integer not null check (round > 0),
  format text not null check (length(format) between 1 and 40),
  -- From where it pays, as the account was when the draft was made.
  debtor_name text not null check (length(debtor_name) between 1 and 100),
  debtor_account_no text not null check (length(debtor_account_no) between 4 and 34),
  debtor_bank text not null check (length(debtor_bank) <= 11),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- 0: the command line.
  made_by bigint not null check (made_by >= 0),
  maker text not null check (length(maker) between 3 and 254),
  maker_reset_by bigint not null check (maker_reset_by >= 0),
  made_at timestamptz not null,
  primary key (account, file_id),
  constraint payout_files_as_made unique (account, file_id, made_by, maker_reset_by)
);
create index if not exists payout_files_by_id on payout_files (file_id);
create index if not exists payout_files_open on payout_files (account, file_id)
  where state not in ('closed', 'cancelled');

-- The withdrawals that a draft chose.
create table if not exists payout_file_lines (
  account text not null,
  file_id uuid not null,
  n integer not null check (n > 0),
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  attempt integer not null check (attempt > 0),
  amount bigint not null check (amount > 0),
  payee_name text not null,
  payee_account_no text not null,
  payee_bank text not null,
  primary key (account, file_id, n),
  foreign key (account, file_id) references payout_files,
  constraint payout_file_lines_once unique (account, file_id, agent_id, order_id),
  constraint payout_file_lines_as_drafted unique (account, file_id, n, agent_id, order_id, attempt, amount)
);

-- What is shown for approval, round by round.
create table if not exists payout_file_lists (
  account text not null,
  file_id uuid not null,
  round integer not null check (round > 0),
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  items integer not null check (items > 0),
  amount bigint not null check (amount > 0),
  made_by bigint not null,
  maker_reset_by bigint not null,
  listed_at timestamptz not null,
  primary key (account, file_id, round),
  foreign key (account, file_id, made_by, maker_reset_by)
    references payout_files (account, file_id, made_by, maker_reset_by),
  constraint payout_file_lists_as_shown unique (account, file_id, round, digest, made_by, maker_reset_by)
);

create table if not exists payout_file_approvals (
  account text not null,
  file_id uuid not null,
  round integer not null,
  digest text not null,
  made_by bigint not null,
  maker_reset_by bigint not null,
  approved_by bigint not null check (approved_by > 0),
  approver text not null check (length(approver) between 3 and 254),
  reset_by bigint not null check (reset_by >= 0),
  approved_at timestamptz not null,
  primary key (account, file_id, round),
  foreign key (account, file_id, round, digest, made_by, maker_reset_by)
    references payout_file_lists (account, file_id, round, digest, made_by, maker_reset_by),
  constraint payout_file_approvals_as_approved unique (account, file_id, round, digest),
  constraint payout_file_approvals_by_another check (approved_by <> made_by),
  -- Neither of the two reset the other, nor did a third reset both: who did could sign in as both.
  constraint payout_file_approvals_independent check (
    approved_by <> maker_reset_by and (reset_by = 0 or reset_by not in (made_by, maker_reset_by)))
);
create index if not exists payout_file_approvals_by_time on payout_file_approvals (account, approved_at);

-- The payouts of a file. A payout is in one file, once, ever.
create table if not exists payout_items (
  account text not null,
  file_id uuid not null,
  n integer not null,
  agent_id bigint not null,
  order_id uuid not null,
  attempt integer not null,
  amount bigint not null,
  -- The payout's reference, which is the code that the bank names it by; null until it is handed over.
  reference text check (reference ~ '^[0-9A-Z]{13}$'),
  state text not null check (state in (
    'waiting', 'dropped', 'accepted', 'paid', 'rejected', 'unknown', 'cancelled', 'returned')),
  -- What the bank said of it last, in words.
  said text check (length(said) between 1 and 1000),
  -- The movements by which its money left and came back.
  debited_by uuid,
  returned_by uuid,
  primary key (account, file_id, n),
  foreign key (account, file_id, n, agent_id, order_id, attempt, amount)
    references payout_file_lines (account, file_id, n, agent_id, order_id, attempt, amount),
  constraint payout_items_one_file unique (account, agent_id, order_id, attempt),
  constraint payout_items_one_reference unique (account, reference),
  constraint payout_items_handed check (
    case state when 'waiting' then true when 'dropped' then reference is null else reference is not null end),
  constraint payout_items_moved check (reference is not null or (debited_by is null and returned_by is null))
);
create index if not exists payout_items_by_movement on payout_items (account, debited_by)
  where debited_by is not null;
create unique index if not exists payout_items_returned on payout_items (account, returned_by)
  where returned_by is not null;
create index if not exists payout_items_open on payout_items (account, file_id)
  where state in ('waiting', 'accepted', 'unknown');
create index if not exists payout_items_to_be_debited on payout_items (account, file_id)
  where debited_by is null and state in ('paid', 'returned');
create index if not exists payout_items_of_order on payout_items (agent_id, order_id);

-- The bytes that the bank gets.
create table if not exists payout_file_seals (
  account text not null,
  file_id uuid not null,
  round integer not null,
  digest text not null,
  message_id text not null check (length(message_id) between 1 and 35),
  name text not null check (length(name) between 1 and 100),
  content_type text not null check (length(content_type) between 3 and 100),
  sealed_at timestamptz not null,
  execution_date date not null,
  items integer not null check (items > 0),
  amount bigint not null check (amount > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bytea not null,
  primary key (account, file_id),
  foreign key (account, file_id, round, digest)
    references payout_file_approvals (account, file_id, round, digest),
  constraint payout_file_seals_message unique (account, message_id)
);

create table if not exists payout_file_downloads (
  account text not null,
  file_id uuid not null,
  n integer not null check (n > 0),
  -- 0: the command line.
  downloaded_by bigint not null check (downloaded_by >= 0),
  downloader text not null check (length(downloader) between 3 and 254),
  reason text not null check (length(reason) between 3 and 500),
  at timestamptz not null,
  primary key (account, file_id, n),
  foreign key (account, file_id) references payout_file_seals,
  constraint payout_file_downloads_as_made unique (account, file_id, n, downloaded_by)
);

create table if not exists payout_file_sendings (
  account text not null,
  file_id uuid not null,
  -- The first download, by whom.
  first integer not null check (first = 1),
  downloaded_by bigint not null,
  sent_by bigint not null check (sent_by > 0),
  sender text not null check (length(sender) between 3 and 254),
  bank_reference text not null check (length(bank_reference) between 1 and 100),
  at timestamptz not null,
  primary key (account, file_id),
  foreign key (account, file_id, first, downloaded_by)
    references payout_file_downloads (account, file_id, n, downloaded_by),
  constraint payout_file_sendings_by_another check (sent_by <> downloaded_by)
);

-- What the bank answered, as it came.
create table if not exists payout_file_reports (
  account text not null,
  file_id uuid not null,
  report_id uuid not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bytea not null,
  brought_by bigint not null check (brought_by >= 0),
  bringer text not null check (length(bringer) between 3 and 254),
  at timestamptz not null,
  primary key (account, file_id, report_id),
  foreign key (account, file_id) references payout_files,
  constraint payout_file_reports_once unique (account, file_id, sha256)
);

-- A movement may be a payout of a file, or one that came back.
alter table bank_movements drop constraint if exists bank_movements_explained_by_check,
  add constraint bank_movements_explained_by_check check (explained_by in (
    'payment', 'payment_taken_back', 'payment_returned', 'bank_fee', 'interest', 'own_transfer', 'correction',
    'batch', 'payout', 'payout_returned'
  )) not valid;
alter table bank_movements validate constraint bank_movements_explained_by_check;

grant select, insert on payout_files, payout_file_lines, payout_file_lists, payout_file_approvals, payout_items,
  payout_file_seals, payout_file_downloads, payout_file_sendings, payout_file_reports to sluice_service;
grant update (state, round) on payout_files to sluice_service;
grant update (reference, state, said, debited_by, returned_by) on payout_items to sluice_service;
grant update (payout, payout_format, payout_cutoffs, payout_holidays, payout_file_limit, payout_day_limit)
  on bank_accounts to sluice_service;
