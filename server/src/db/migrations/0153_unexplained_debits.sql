-- outside a transaction
-- Money that left a bank account, and of which nobody can say yet what it was, has an account of its own in the house's
-- book. The defaults stay: processes of the version before go on. Once something is in the account, what they would write to
-- that book does not balance, and is refused.
alter table wallets add column if not exists unexplained bigint not null default 0;
alter table journal
  add column if not exists unexplained_change bigint not null default 0,
  add column if not exists unexplained bigint not null default 0;
alter table archive_parts add column if not exists unexplained bigint not null default 0;

alter table wallets
  drop constraint if exists wallets_balance,
  add constraint wallets_balance check (
    available + held + reserve + suspense + unexplained + clearing + fees + costs + adjustments
      + differences + transfers = 0
  ) not valid,
  drop constraint if exists wallets_bound,
  add constraint wallets_bound check (
    greatest(abs(available), abs(held), reserve) <= 9007199254740991
    and greatest(abs(suspense), abs(unexplained), abs(clearing), abs(fees), abs(costs), abs(adjustments),
      abs(differences), abs(transfers)) <= 576460752303423488
  ) not valid,
  drop constraint if exists wallets_unexplained_not_positive,
  add constraint wallets_unexplained_not_positive
    check (unexplained <= 0 and (agent_id < 0 or unexplained = 0)) not valid;
alter table wallets validate constraint wallets_balance;
alter table wallets validate constraint wallets_bound;
alter table wallets validate constraint wallets_unexplained_not_positive;
grant update (unexplained) on wallets to sluice_service;

alter table archive_parts drop constraint if exists archive_parts_balance,
  add constraint archive_parts_balance check (
    available + held + reserve + suspense + unexplained + clearing + fees + costs + adjustments
      + differences + transfers = 0
  ) not valid;
alter table archive_parts validate constraint archive_parts_balance;

alter table journal
  drop constraint if exists journal_event_check,
  add constraint journal_event_check check (event in (
    'withdraw_held', 'withdraw_paid', 'withdraw_failed', 'withdraw_cancelled', 'withdraw_reverted',
    'withdraw_paid_after_failed', 'deposit_paid', 'deposit_failed', 'deposit_expired',
    'deposit_void', 'deposit_taken_back', 'cost_charged', 'reserve_released', 'adjustment',
    'payment_received', 'payment_returned', 'payment_dismissed', 'payment_assigned',
    'payment_reclassified', 'swept', 'written_off', 'debit_reported', 'debit_explained'
  )) not valid,
  drop constraint if exists journal_of_order_or_book,
  add constraint journal_of_order_or_book check (
    (order_id is null) = (event in ('adjustment', 'payment_received', 'payment_returned',
      'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept', 'written_off',
      'debit_reported', 'debit_explained'))
  ) not valid,
  drop constraint if exists journal_legs_balance,
  add constraint journal_legs_balance check (
    available_change + held_change + reserve_change + suspense_change + unexplained_change
      + clearing_change + fees_change + costs_change + adjustments_change + differences_change
      + transfers_change = 0
  ) not valid,
  drop constraint if exists journal_balances_balance,
  add constraint journal_balances_balance check (
    available + held + reserve + suspense + unexplained + clearing + fees + costs + adjustments
      + differences + transfers = 0
  ) not valid,
  drop constraint if exists journal_bound,
  add constraint journal_bound check (
    greatest(abs(available), abs(held), reserve) <= 9007199254740991
    and greatest(abs(suspense), abs(unexplained), abs(clearing), abs(fees), abs(costs), abs(adjustments),
      abs(differences), abs(transfers)) <= 576460752303423488
  ) not valid,
  drop constraint if exists journal_unexplained_not_positive,
  add constraint journal_unexplained_not_positive check (unexplained <= 0) not valid,
  drop constraint if exists journal_once,
  add constraint journal_once check (
    event not in ('deposit_paid', 'cost_charged', 'reserve_released', 'adjustment', 'payment_received',
      'payment_returned', 'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept',
      'written_off', 'debit_reported', 'debit_explained')
    or once_key is not null
  ) not valid;
alter table journal validate constraint journal_event_check;
alter table journal validate constraint journal_of_order_or_book;
alter table journal validate constraint journal_legs_balance;
alter table journal validate constraint journal_balances_balance;
alter table journal validate constraint journal_bound;
alter table journal validate constraint journal_unexplained_not_positive;
alter table journal validate constraint journal_once;

-- Whether the house's account has a debit. A worker finds those that it lacks, and those that it still has though they are
-- explained: also what was reported before this, and what a process of the version before reports or explains.
alter table bank_movements add column if not exists held boolean not null default false;
grant update (held) on bank_movements to sluice_service;
create index concurrently if not exists bank_movements_to_hold on bank_movements (account, movement_id)
  where (state = 'unexplained' and amount < 0 and not held) or (state = 'booked' and held);
