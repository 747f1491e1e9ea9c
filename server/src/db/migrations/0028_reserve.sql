-- outside a transaction
-- A rolling reserve: a share of each paid deposit is held back for some days, in an account of its own. And
-- settlement: when an agent's balance is paid out to its own account, written as BANK:ACCOUNT:NAME.

alter table agents
  add column if not exists reserve text not null default 'none',
  add column if not exists settle text not null default 'off',
  add column if not exists settle_keep bigint not null default 0,
  add column if not exists settle_to text;
alter table agents drop constraint if exists agents_reserve_check,
  add constraint agents_reserve_check check (reserve = 'none' or reserve ~ '^[0-9.]{1,6}%/[0-9]{1,4}$') not valid;
alter table agents validate constraint agents_reserve_check;
alter table agents drop constraint if exists agents_settle_check,
  add constraint agents_settle_check check (
    settle in ('off', 'daily', 'weekly') and (settle = 'off' or settle_to is not null)
    and settle_keep between 0 and 1000000000000 and length(settle_to) between 1 and 200
  ) not valid;
alter table agents validate constraint agents_settle_check;
grant update (reserve, settle, settle_keep, settle_to) on agents to sluice_service;

-- The rule that a deposit was created under, and when what is held back of it becomes available. Earlier
-- orders have no rule.
alter table orders
  add column if not exists reserve_rule text,
  add column if not exists release_at timestamptz;
alter table orders drop constraint if exists orders_reserve_check,
  add constraint orders_reserve_check check (
    (reserve_rule is null or (kind = 'deposit' and reserve_rule ~ '^[0-9.]{1,6}%/[0-9]{1,4}$'))
    and (release_at is null or (reserve_rule is not null and status = 'PAID'))
  ) not valid;
alter table orders validate constraint orders_reserve_check;
create index concurrently if not exists orders_to_release on orders (agent_id, release_at)
  where release_at is not null;
grant update (release_at) on orders to sluice_service;

-- The defaults stay: processes of the version before can go on until an agent has a reserve. What they would
-- then write wrongly does not balance, and is refused.
alter table wallets add column if not exists reserve bigint not null default 0;
alter table journal
  add column if not exists reserve_change bigint not null default 0,
  add column if not exists reserve bigint not null default 0;
alter table archive_parts add column if not exists reserve bigint not null default 0;

alter table wallets
  drop constraint if exists wallets_balance,
  add constraint wallets_balance check (
    available + held + reserve + suspense + clearing + fees + costs + adjustments + differences
      + transfers = 0
  ) not valid,
  drop constraint if exists wallets_bound,
  add constraint wallets_bound check (
    greatest(abs(available), abs(held), reserve) <= 9007199254740991
    and greatest(abs(suspense), abs(clearing), abs(fees), abs(costs), abs(adjustments),
      abs(differences), abs(transfers)) <= 576460752303423488
  ) not valid,
  drop constraint if exists wallets_reserve_not_negative,
  add constraint wallets_reserve_not_negative check (reserve >= 0 and (agent_id > 0 or reserve = 0)) not valid;
alter table wallets validate constraint wallets_balance;
alter table wallets validate constraint wallets_bound;
alter table wallets validate constraint wallets_reserve_not_negative;
grant update (reserve) on wallets to sluice_service;

alter table archive_parts drop constraint if exists archive_parts_balance,
  add constraint archive_parts_balance check (
    available + held + reserve + suspense + clearing + fees + costs + adjustments + differences
      + transfers = 0
  ) not valid;
alter table archive_parts validate constraint archive_parts_balance;

alter table journal
  drop constraint if exists journal_event_check,
  add constraint journal_event_check check (event in (
    'withdraw_held', 'withdraw_paid', 'withdraw_failed', 'withdraw_cancelled', 'withdraw_reverted',
    'withdraw_paid_after_failed', 'deposit_paid', 'deposit_failed', 'deposit_expired',
    'deposit_void', 'deposit_taken_back', 'cost_charged', 'reserve_released', 'adjustment',
    'payment_received', 'payment_returned', 'payment_dismissed', 'payment_assigned',
    'payment_reclassified', 'swept', 'written_off'
  )) not valid,
  drop constraint if exists journal_legs_balance,
  add constraint journal_legs_balance check (
    available_change + held_change + reserve_change + suspense_change + clearing_change + fees_change
      + costs_change + adjustments_change + differences_change + transfers_change = 0
  ) not valid,
  drop constraint if exists journal_balances_balance,
  add constraint journal_balances_balance check (
    available + held + reserve + suspense + clearing + fees + costs + adjustments + differences
      + transfers = 0
  ) not valid,
  drop constraint if exists journal_bound,
  add constraint journal_bound check (
    greatest(abs(available), abs(held), reserve) <= 9007199254740991
    and greatest(abs(suspense), abs(clearing), abs(fees), abs(costs), abs(adjustments),
      abs(differences), abs(transfers)) <= 576460752303423488
  ) not valid,
  drop constraint if exists journal_reserve_not_negative,
  add constraint journal_reserve_not_negative check (reserve >= 0) not valid,
  drop constraint if exists journal_once,
  add constraint journal_once check (
    event not in ('deposit_paid', 'cost_charged', 'reserve_released', 'adjustment', 'payment_received',
      'payment_returned', 'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept',
      'written_off')
    or once_key is not null
  ) not valid;
alter table journal validate constraint journal_event_check;
alter table journal validate constraint journal_legs_balance;
alter table journal validate constraint journal_balances_balance;
alter table journal validate constraint journal_bound;
alter table journal validate constraint journal_reserve_not_negative;
alter table journal validate constraint journal_once;
