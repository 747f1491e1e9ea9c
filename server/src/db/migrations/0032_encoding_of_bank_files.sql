-- outside a transaction
-- The encoding of a bank's MT940 and OFX files, where it is not the usual one: German banks still write CP850.

alter table bank_accounts add column if not exists encoding text;
alter table bank_accounts drop constraint if exists bank_accounts_encoding_check,
  add constraint bank_accounts_encoding_check check (length(encoding) between 1 and 40) not valid;
alter table bank_accounts validate constraint bank_accounts_encoding_check;

grant update (encoding) on bank_accounts to sluice_service;
