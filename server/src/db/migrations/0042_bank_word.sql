-- outside a transaction
-- What only a person says makes no day green, and a sum whose payments are known is no money of its own.

-- Whether a statement is the bank's word, and not only a person's who brought the file.
alter table bank_statements add column if not exists is_trusted boolean not null default true;
update bank_statements s set is_trusted = false
where is_trusted and exists (select 1 from bank_reports r
  where r.account = s.account and r.statement_id = s.statement_id and not r.is_trusted);

-- A file is confirmed for its balances too: nothing in it may be new.
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_movements_check,
  add constraint bank_file_confirmations_movements_check check (movements >= 0) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_movements_check;
alter table bank_file_confirmations drop constraint if exists bank_file_confirmations_amount_check,
  add constraint bank_file_confirmations_amount_check check (amount >= 0) not valid;
alter table bank_file_confirmations validate constraint bank_file_confirmations_amount_check;

grant update (is_trusted) on bank_statements to sluice_service;
-- A person says that a line was a sum of payments, which are known.
grant update (batch_count) on bank_reports to sluice_service;
