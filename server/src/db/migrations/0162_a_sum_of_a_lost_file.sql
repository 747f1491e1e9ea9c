-- outside a transaction
-- A payment file that was lost with the database may have been debited in one sum, which names no withdrawal: two people
-- say which it paid, in a file of what is paid already.

alter table payout_files add column if not exists debit uuid;
alter table payout_files drop constraint if exists payout_files_debited,
  add constraint payout_files_debited check (debit is null or already_paid) not valid;
alter table payout_files validate constraint payout_files_debited;
create unique index concurrently if not exists payout_files_of_debit on payout_files (account, debit)
  where debit is not null and state <> 'cancelled';
