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
  on payout_file_approvals (account, file_id, round, made_by, approved_by, reset_by);

-- Who made and who approved what was given out, in the round of its bytes: if nobody signed in to make it, another
-- person lets it go than who approved it. Neither of the two reset the other, nor did a third reset both.
alter table payout_file_downloads
  add column if not exists made_by bigint,
  add column if not exists approved_by bigint,
  add column if not exists approver_reset_by bigint,
  add column if not exists reset_by bigint;
update payout_file_downloads d
  set made_by = a.made_by, approved_by = a.approved_by, approver_reset_by = a.reset_by
  from payout_file_approvals a
  where d.made_by is null and a.account = d.account and a.file_id = d.file_id and a.round = d.round;
alter table payout_file_downloads drop constraint if exists payout_file_downloads_people,
  add constraint payout_file_downloads_people check (
    made_by is not null and approved_by is not null and approver_reset_by is not null) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_people;
alter table payout_file_downloads drop constraint if exists payout_file_downloads_approved,
  add constraint payout_file_downloads_approved
    foreign key (account, file_id, round, made_by, approved_by, approver_reset_by)
    references payout_file_approvals (account, file_id, round, made_by, approved_by, reset_by) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_approved;
-- Whoever has a shell is another person than who approved. Of what one person let go before, nothing is said any more.
alter table payout_file_downloads drop constraint if exists payout_file_downloads_two_people,
  add constraint payout_file_downloads_two_people check (made_by <> 0 or downloaded_by = 0 or (
    downloaded_by not in (approved_by, approver_reset_by) and reset_by is not null
    and (reset_by = 0 or reset_by not in (approved_by, approver_reset_by)))) not valid;
create unique index concurrently if not exists payout_file_downloads_in_round
  on payout_file_downloads (account, file_id, n, round, downloaded_by);

-- The same of who says that the bank has it: its bytes are those of the first download.
alter table payout_file_sendings
  add column if not exists round integer,
  add column if not exists made_by bigint,
  add column if not exists approved_by bigint,
  add column if not exists approver_reset_by bigint,
  add column if not exists reset_by bigint;
update payout_file_sendings x set round = d.round, made_by = d.made_by, approved_by = d.approved_by,
    approver_reset_by = d.approver_reset_by
  from payout_file_downloads d
  where x.round is null and d.account = x.account and d.file_id = x.file_id and d.n = x.first;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_people,
  add constraint payout_file_sendings_people check (round is not null and made_by is not null
    and approved_by is not null and approver_reset_by is not null) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_people;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_of_download,
  add constraint payout_file_sendings_of_download foreign key (account, file_id, first, round, downloaded_by)
    references payout_file_downloads (account, file_id, n, round, downloaded_by) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_of_download;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_approved,
  add constraint payout_file_sendings_approved
    foreign key (account, file_id, round, made_by, approved_by, approver_reset_by)
    references payout_file_approvals (account, file_id, round, made_by, approved_by, reset_by) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_approved;
-- Who does not sign in says so only of what this service saw arrive (payout_file_sendings_seen).
alter table payout_file_sendings drop constraint if exists payout_file_sendings_two_people,
  add constraint payout_file_sendings_two_people check (made_by <> 0 or sent_by = 0 or downloaded_by = 0 or (
    sent_by not in (approved_by, approver_reset_by) and reset_by is not null
    and (reset_by = 0 or reset_by not in (approved_by, approver_reset_by)))) not valid;

grant select, insert on payout_file_schedules to sluice_service;
grant update (payout_draft_before) on bank_accounts to sluice_service;
