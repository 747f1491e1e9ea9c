-- outside a transaction
-- After the database was restored from a backup: files stay here until the banks' statements have caught up.

create table if not exists restores (
  restore_id uuid primary key,
  -- The backup is not older than this: what happened since may be missing here.
  since timestamptz not null,
  marked_by bigint not null check (marked_by >= 0),
  marker text not null check (length(marker) between 3 and 254),
  marked_at timestamptz not null,
  constraint restores_in_order check (since <= marked_at)
);

-- That an account's files may leave again: its statements say so, or two people.
create table if not exists payout_lock_releases (
  account text not null references bank_accounts,
  restore_id uuid not null references restores,
  how text not null check (how in ('statements', 'two_people')),
  released_by bigint not null check (released_by >= 0),
  releaser text not null check (length(releaser) between 3 and 254),
  evidence text not null check (length(evidence) between 3 and 500),
  released_at timestamptz not null,
  primary key (account, restore_id),
  constraint payout_lock_releases_by_people check ((how = 'two_people') = (released_by > 0))
);

-- A file of payouts that the bank has debited already: it is never sealed and never leaves.
alter table payout_files add column if not exists already_paid boolean not null default false;
alter table payout_files drop constraint if exists payout_files_stays,
  add constraint payout_files_stays check (
    not already_paid or state in ('draft', 'approving', 'closed', 'cancelled')) not valid;
alter table payout_files validate constraint payout_files_stays;

-- What the bank has debited is not taken out of such a file: its money would be given back.
create unique index concurrently if not exists payout_files_as_paid on payout_files (account, file_id, already_paid);
alter table payout_item_ends add column if not exists already_paid boolean not null default false;
alter table payout_item_ends drop constraint if exists payout_item_ends_of_file,
  add constraint payout_item_ends_of_file foreign key (account, file_id, already_paid)
    references payout_files (account, file_id, already_paid) not valid;
alter table payout_item_ends validate constraint payout_item_ends_of_file;
alter table payout_item_ends drop constraint if exists payout_item_ends_not_paid,
  add constraint payout_item_ends_not_paid check (not already_paid) not valid;
alter table payout_item_ends validate constraint payout_item_ends_not_paid;

grant select, insert on restores, payout_lock_releases to sluice_service;
