-- The debit of a payment file that was lost may be more than the withdrawals that wait here: with the bank's charge, or with
-- withdrawals that were lost too. Two people say how much that is.
alter table payout_files add column rest bigint not null default 0;
alter table payout_files
  add constraint payout_files_rest check (rest = 0 or (rest > 0 and debit is not null)) not valid;
alter table payout_files validate constraint payout_files_rest;
