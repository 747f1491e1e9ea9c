-- outside a transaction
-- A bank may debit its charge together with a payout: what left is the payout and this.
alter table bank_reports drop constraint if exists bank_reports_charges_check,
  add constraint bank_reports_charges_check
    check (charges = 0 or (charges > 0 and (amount > 0 or charges < -amount))) not valid;
alter table bank_reports validate constraint bank_reports_charges_check;

-- The payment is the amount and what is deducted from it, for a debit too.
alter table bank_movements drop constraint if exists bank_movements_deducted,
  add constraint bank_movements_deducted check (
    deducted = 0
    or (deducted > 0 and amount > 0 and order_id is not null)
    or (deducted > 0 and amount < -deducted and explained_by is not distinct from 'payout')
  ) not valid;
alter table bank_movements validate constraint bank_movements_deducted;
