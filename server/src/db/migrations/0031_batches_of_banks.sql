-- outside a transaction
-- A batch whose payments the bank tells apart later is explained by these.

alter table bank_movements drop constraint if exists bank_movements_explained_by_check,
  add constraint bank_movements_explained_by_check check (explained_by in (
    'payment', 'payment_taken_back', 'payment_returned', 'bank_fee', 'interest', 'own_transfer', 'correction',
    'batch'
  )) not valid;
alter table bank_movements validate constraint bank_movements_explained_by_check;

-- How many payments the line stands for, if the bank does not tell them apart.
alter table bank_reports add column if not exists batch_count integer;
alter table bank_reports drop constraint if exists bank_reports_batch_count_check,
  add constraint bank_reports_batch_count_check check (batch_count > 1) not valid;
alter table bank_reports validate constraint bank_reports_batch_count_check;

create index concurrently if not exists bank_reports_of_batches on bank_reports (account, booked_on)
  where batch_count is not null;

-- What was written off at each provider, which is little.
create index concurrently if not exists journal_written_off on journal (agent_id, clearing_at)
  where event = 'written_off';
