-- outside a transaction
-- What takes two people at a bank account: to say where deposits go, to believe a file that a person brought.
-- And the days of an account that a person has signed off.

alter table bank_accounts
  -- Who last changed what deposits and reports depend on, when, and what that was; null: nobody since it was made.
  add column if not exists changed_by text,
  add column if not exists changed_at timestamptz,
  add column if not exists changed text,
  -- The payment that a person made to try the bank's own QR code.
  add column if not exists test_paid_by text,
  add column if not exists test_paid_at timestamptz,
  add column if not exists test_paid bigint,
  -- In minor units: how much of what files brought by people report in a day is believed without a second person.
  add column if not exists file_limit bigint not null default 0;
alter table bank_accounts drop constraint if exists bank_accounts_changed,
  add constraint bank_accounts_changed check (
    length(changed_by) between 3 and 254 and length(changed) between 1 and 200
    and num_nulls(changed_by, changed_at, changed) in (0, 3)
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_changed;
alter table bank_accounts drop constraint if exists bank_accounts_test_paid,
  add constraint bank_accounts_test_paid check (
    length(test_paid_by) between 3 and 254 and test_paid > 0
    and num_nulls(test_paid_by, test_paid_at, test_paid) in (0, 3)
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_test_paid;
alter table bank_accounts drop constraint if exists bank_accounts_file_limit,
  add constraint bank_accounts_file_limit check (file_limit >= 0) not valid;
alter table bank_accounts validate constraint bank_accounts_file_limit;
-- The sandbox needs nobody, and who has the command line may say to be alone.
alter table bank_accounts drop constraint if exists bank_accounts_two_people,
  add constraint bank_accounts_two_people check (
    confirmed_by is null or confirmed_by = 'sandbox'
    or coalesce(changed_by, created_by) = 'command line'
    or confirmed_by <> coalesce(changed_by, created_by)
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_two_people;
-- Some bank apps refuse a bank's QR code with an amount put in: somebody must have paid one.
alter table bank_accounts drop constraint if exists bank_accounts_tried,
  add constraint bank_accounts_tried check (
    confirmed_by is null or qr_kind <> 'template' or test_paid_at is not null
    or confirmed_by in ('sandbox', 'command line')
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_tried;

-- A file that a person brought, and who believed it: another person, or nobody if it was within the limit.
create unique index if not exists bank_files_brought on bank_files (account, file_id, brought_by);
create table if not exists bank_file_confirmations (
  account text not null references bank_accounts,
  file_id uuid not null,
  brought_by text not null,
  confirmed_by text check (length(confirmed_by) between 3 and 254),
  confirmed_at timestamptz not null,
  -- How many movements it was about, and their amounts without signs.
  movements integer not null check (movements > 0),
  amount bigint not null check (amount > 0),
  primary key (account, file_id),
  foreign key (account, file_id, brought_by) references bank_files (account, file_id, brought_by),
  constraint bank_file_confirmations_two_people check (confirmed_by <> brought_by)
);
create index if not exists bank_file_confirmations_by_time on bank_file_confirmations (account, confirmed_at);
create index if not exists bank_reports_of_file on bank_reports (account, file_id) where file_id is not null;
create index if not exists bank_movements_for_people on bank_movements (account, booked_on, movement_id)
  where state in ('unconfirmed', 'unexplained');
create index if not exists bank_files_by_time on bank_files (account, received_at, file_id);

-- Each time that a person signed a day off. A day that changes afterwards is signed off again, under the next number.
create table if not exists bank_day_signoffs (
  account text not null references bank_accounts,
  day date not null,
  signoff_no integer not null check (signoff_no > 0),
  signed_by text not null check (length(signed_by) between 3 and 254),
  signed_at timestamptz not null,
  state text not null check (state in ('green', 'amber', 'red')),
  -- SHA-256 of what was shown, and of the day's movements alone.
  shown text not null check (shown ~ '^[0-9a-f]{64}$'),
  movements text not null check (movements ~ '^[0-9a-f]{64}$'),
  reason text check (length(reason) between 3 and 500),
  primary key (account, day, signoff_no),
  constraint bank_day_signoffs_reason check (state = 'green' or reason is not null)
);

grant select, insert on bank_file_confirmations, bank_day_signoffs to sluice_service;
grant update (changed_by, changed_at, changed, test_paid_by, test_paid_at, test_paid, file_limit)
  on bank_accounts to sluice_service;
