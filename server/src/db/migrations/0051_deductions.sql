-- outside a transaction
-- A rail may take a fixed fee out of each payment before it arrives.

alter table bank_accounts
  -- In minor units: how much less arrives than was paid.
  add column if not exists expected_deduction bigint not null default 0;
alter table bank_accounts drop constraint if exists bank_accounts_expected_deduction,
  add constraint bank_accounts_expected_deduction check (expected_deduction >= 0) not valid;
alter table bank_accounts validate constraint bank_accounts_expected_deduction;

alter table bank_movements
  -- How much of the payment the rail kept: the payment is the amount and this.
  add column if not exists deducted bigint not null default 0;
alter table bank_movements drop constraint if exists bank_movements_deducted,
  add constraint bank_movements_deducted
    check (deducted = 0 or (deducted > 0 and amount > 0 and order_id is not null)) not valid;
alter table bank_movements validate constraint bank_movements_deducted;

grant update (expected_deduction) on bank_accounts to sluice_service;
grant update (deducted) on bank_movements to sluice_service;

create index concurrently if not exists bank_movements_by_payment
  on bank_movements (account, (amount + deducted)) where deducted > 0;
