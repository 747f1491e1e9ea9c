-- outside a transaction
-- Who made a bank account what it is, who brought a bank's file and who confirmed them: by their user and credentials,
-- so that nobody confirms what a user whom they reset has made, or the other way round. Names alone do not tell.

alter table bank_accounts
  -- Null: the sandbox, the command line, or from before this was kept.
  add column if not exists maker_user_id bigint,
  add column if not exists maker_credential integer,
  add column if not exists maker_reset_by bigint,
  add column if not exists confirmer_user_id bigint,
  add column if not exists confirmer_credential integer,
  add column if not exists confirmer_reset_by bigint;
alter table bank_accounts drop constraint if exists bank_accounts_maker,
  add constraint bank_accounts_maker check (
    num_nulls(maker_user_id, maker_credential, maker_reset_by) in (0, 3)
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_maker;
alter table bank_accounts drop constraint if exists bank_accounts_confirmer,
  add constraint bank_accounts_confirmer check (
    num_nulls(confirmer_user_id, confirmer_credential, confirmer_reset_by) in (0, 3)
    and (confirmer_user_id is null or confirmed_by is not null)
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_confirmer;
-- Neither of the two reset the other, nor did a third reset both: who did could sign in as both.
alter table bank_accounts drop constraint if exists bank_accounts_independent,
  add constraint bank_accounts_independent check (
    maker_user_id is null or confirmer_user_id is null
    or (confirmer_user_id not in (maker_user_id, maker_reset_by)
      and (confirmer_reset_by = 0 or confirmer_reset_by not in (maker_user_id, maker_reset_by)))
  ) not valid;
alter table bank_accounts validate constraint bank_accounts_independent;
alter table bank_accounts drop constraint if exists bank_accounts_of_maker,
  add constraint bank_accounts_of_maker foreign key (maker_user_id, maker_credential, maker_reset_by)
    references user_credentials (user_id, n, reset_by) not valid;
alter table bank_accounts validate constraint bank_accounts_of_maker;
alter table bank_accounts drop constraint if exists bank_accounts_of_confirmer,
  add constraint bank_accounts_of_confirmer foreign key (confirmer_user_id, confirmer_credential, confirmer_reset_by)
    references user_credentials (user_id, n, reset_by) not valid;
alter table bank_accounts validate constraint bank_accounts_of_confirmer;

alter table bank_files
  -- 0: a machine, the command line, or from before this was kept.
  add column if not exists bringer_user_id bigint not null default 0,
  add column if not exists bringer_credential integer not null default 0,
  add column if not exists bringer_reset_by bigint not null default 0;
alter table bank_files drop constraint if exists bank_files_of_bringer,
  add constraint bank_files_of_bringer foreign key (bringer_user_id, bringer_credential, bringer_reset_by)
    references user_credentials (user_id, n, reset_by) not valid;
alter table bank_files validate constraint bank_files_of_bringer;
create unique index concurrently if not exists bank_files_bringer
  on bank_files (account, file_id, bringer_user_id, bringer_reset_by);

alter table bank_file_confirmations
  add column if not exists bringer_user_id bigint not null default 0,
  add column if not exists bringer_reset_by bigint not null default 0,
  -- Null: nobody, because it was within the limit; or from before this was kept.
  add column if not exists confirmer_user_id bigint,
  add column if not exists confirmer_credential integer,
  add column if not exists confirmer_reset_by bigint;
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_confirmer,
  add constraint bank_file_confirmations_confirmer check (
    num_nulls(confirmer_user_id, confirmer_credential, confirmer_reset_by) in (0, 3)
    and (confirmer_user_id is null or confirmed_by is not null)
  ) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_confirmer;
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_independent,
  add constraint bank_file_confirmations_independent check (
    confirmer_user_id is null
    or (confirmer_user_id not in (bringer_user_id, bringer_reset_by)
      and (confirmer_reset_by = 0 or confirmer_reset_by not in (bringer_user_id, bringer_reset_by)))
  ) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_independent;
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_of_bringer,
  add constraint bank_file_confirmations_of_bringer
    foreign key (account, file_id, bringer_user_id, bringer_reset_by)
    references bank_files (account, file_id, bringer_user_id, bringer_reset_by) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_of_bringer;
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_of_confirmer,
  add constraint bank_file_confirmations_of_confirmer
    foreign key (confirmer_user_id, confirmer_credential, confirmer_reset_by)
    references user_credentials (user_id, n, reset_by) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_of_confirmer;

grant update (maker_user_id, maker_credential, maker_reset_by, confirmer_user_id, confirmer_credential,
  confirmer_reset_by) on bank_accounts to sluice_service;
