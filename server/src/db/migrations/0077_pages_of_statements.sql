-- outside a transaction
-- Which page of a statement a file has: its balances may be on two pages, and its entries on all.
alter table bank_statements add column if not exists page integer;

-- A bank account that expects nearly as many deposits of one amount as it can tell apart.
alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'new_secret', 'callback_changed',
    'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm', 'proof_red', 'reconcile_break',
    'callbacks_failing', 'bank_connection', 'bank_account_full', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;
alter table alert_choices drop constraint if exists alert_choices_kind_check,
  add constraint alert_choices_kind_check check (kind in ('approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full')) not valid;
alter table alert_choices validate constraint alert_choices_kind_check;
