-- outside a transaction
-- Drafts that are made before a cut-off by themselves, and two people for files that nobody signed in to make.

alter table bank_accounts
  -- How many minutes before each cut-off a draft is made; null: people make them.
  add column if not exists payout_draft_before integer;
alter table bank_accounts drop constraint if exists bank_accounts_payout_draft_before,
  add constraint bank_accounts_payout_draft_before check (payout_draft_before between 1 and 1440) not valid;
alter table bank_accounts validate constraint bank_accounts_payout_draft_before;

-- One draft for an account and a cut-off, on any number of processes.
create table if not exists payout_file_schedules (
  account text not null,
  cutoff timestamptz not null,
  file_id uuid not null,
  primary key (account, cutoff),
  foreign key (account, file_id) references payout_files
);

create unique index concurrently if not exists payout_file_approvals_people
  on payout_file_approvals (account, file_id, round, made_by, approved_by);

-- Who made and who approved what was sent: if nobody signed in to make it, its approver cannot say that the bank has it.
alter table payout_file_sendings
  add column if not exists round integer,
  add column if not exists made_by bigint,
  add column if not exists approved_by bigint;
update payout_file_sendings x set round = a.round, made_by = a.made_by, approved_by = a.approved_by
  from payout_file_downloads d, payout_file_approvals a
  where x.round is null and d.account = x.account and d.file_id = x.file_id and d.n = x.first
    and a.account = x.account and a.file_id = x.file_id and a.round = d.round;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_people,
  add constraint payout_file_sendings_people check (
    round is not null and made_by is not null and approved_by is not null) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_people;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_approved,
  add constraint payout_file_sendings_approved foreign key (account, file_id, round, made_by, approved_by)
    references payout_file_approvals (account, file_id, round, made_by, approved_by) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_approved;
-- Of files that were sent before by one person, nothing is said any more.
alter table payout_file_sendings drop constraint if exists payout_file_sendings_two_people,
  add constraint payout_file_sendings_two_people check (made_by <> 0 or sent_by <> approved_by) not valid;

grant select, insert on payout_file_schedules to sluice_service;
grant update (payout_draft_before) on bank_accounts to sluice_service;
