-- outside a transaction
-- Until somebody has a payout file, items may be taken out of it and it may be sealed again; afterwards two people may
-- say that it was never brought to the bank.

-- A file is sealed once in each round. Each download says which of its seals was given out.
alter table payout_file_downloads add column if not exists round integer;
update payout_file_downloads d set round = s.round from payout_file_seals s
where d.round is null and s.account = d.account and s.file_id = d.file_id;
alter table payout_file_downloads drop constraint if exists payout_file_downloads_round_check,
  add constraint payout_file_downloads_round_check check (round is not null and round > 0) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_round_check;

alter table payout_file_downloads drop constraint if exists payout_file_downloads_account_file_id_fkey,
  drop constraint if exists payout_file_downloads_of_seal,
  drop constraint if exists payout_file_downloads_of_last_round;
alter table if exists payout_file_reseals drop constraint if exists payout_file_reseals_of_seal;
create unique index concurrently if not exists payout_file_seals_by_round
  on payout_file_seals (account, file_id, round);
alter table payout_file_seals drop constraint if exists payout_file_seals_pkey,
  add constraint payout_file_seals_pkey primary key using index payout_file_seals_by_round;
alter table payout_file_downloads add constraint payout_file_downloads_of_seal
  foreign key (account, file_id, round) references payout_file_seals (account, file_id, round) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_of_seal;

-- Once somebody has the bytes, the file stays in the round that they are of: its round can no longer be changed.
create unique index concurrently if not exists payout_files_in_round on payout_files (account, file_id, round);
alter table payout_file_downloads add constraint payout_file_downloads_of_last_round
  foreign key (account, file_id, round) references payout_files (account, file_id, round) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_of_last_round;

-- Who had a sealed file sealed again, for a later day.
create table if not exists payout_file_reseals (
  account text not null,
  file_id uuid not null,
  -- The round whose seal counts no more.
  round integer not null,
  asked_by bigint not null check (asked_by > 0),
  asker text not null check (length(asker) between 3 and 254),
  reason text not null check (length(reason) between 3 and 500),
  at timestamptz not null,
  primary key (account, file_id, round)
);
alter table payout_file_reseals drop constraint if exists payout_file_reseals_of_seal,
  add constraint payout_file_reseals_of_seal foreign key (account, file_id, round)
    references payout_file_seals (account, file_id, round);

create unique index concurrently if not exists proposals_as_asked on proposals (proposal_id, action, subject_id);

-- Payouts that two people ended, not the bank: taken out before anybody had the file, or of a file that was never
-- brought. They are those of the proposal about this file, which the database lets only another person approve.
create table if not exists payout_item_ends (
  account text not null,
  file_id uuid not null,
  n integer not null,
  how text not null check (how in ('taken_out', 'abandoned')),
  -- Of the file when it was decided.
  round integer not null check (round > 0),
  -- Whether another provider may pay it.
  may_try_another boolean not null,
  proposal_id uuid not null,
  -- What was proposed, and of which file.
  action text not null,
  subject_id text not null,
  verdict text not null check (verdict = 'approved'),
  reason text not null check (length(reason) between 3 and 2000),
  at timestamptz not null,
  primary key (account, file_id, n),
  foreign key (account, file_id, n) references payout_items,
  constraint payout_item_ends_by_two foreign key (proposal_id, verdict)
    references proposal_decisions (proposal_id, verdict),
  constraint payout_item_ends_as_asked foreign key (proposal_id, action, subject_id)
    references proposals (proposal_id, action, subject_id),
  constraint payout_item_ends_asked check (
    action = case how when 'taken_out' then 'take_out_payouts' else 'abandon_payout_file' end
    and subject_id = replace(file_id::text, '-', '')),
  constraint payout_item_ends_abandoned check (how <> 'abandoned' or not may_try_another)
);

grant select, insert on payout_file_reseals, payout_item_ends to sluice_service;
