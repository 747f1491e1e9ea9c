-- Which characters the names in an account's payment files are written in, and by which clock the files tell the time.

alter table bank_accounts add column payout_characters text not null default 'format'
  constraint bank_accounts_payout_characters_check check (payout_characters in ('format', 'latin', 'kept'));
grant update (payout_characters) on bank_accounts to sluice_service;

-- A file keeps what it was drafted with. Older ones have the time by UTC.
alter table payout_files
  add column characters text not null default 'format'
    constraint payout_files_characters_check check (characters in ('format', 'latin', 'kept')),
  add column zone text constraint payout_files_zone_check check (length(zone) between 1 and 64);
