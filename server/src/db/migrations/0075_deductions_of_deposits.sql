-- outside a transaction
-- What the rail keeps of a deposit is fixed when it is created, as its other terms are. Null: it was created before
-- this was kept, and the account's present terms count.

alter table expected_deposits add column if not exists deduction bigint;
alter table expected_deposits drop constraint if exists expected_deposits_deduction,
  add constraint expected_deposits_deduction check (deduction >= 0) not valid;
alter table expected_deposits validate constraint expected_deposits_deduction;
