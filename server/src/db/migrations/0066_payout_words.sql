-- outside a transaction
-- Which bank's word that it paid counts, and that people hear of payouts that contradict the books.

alter table bank_accounts
  -- Whether its answer to a payment file, that it paid, counts before the debit is booked.
  add column if not exists payout_trusts_paid boolean not null default false;
grant update (payout_trusts_paid) on bank_accounts to sluice_service;

alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'new_secret', 'callback_changed',
    'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm', 'proof_red', 'reconcile_break',
    'callbacks_failing', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;
alter table alert_choices drop constraint if exists alert_choices_kind_check,
  add constraint alert_choices_kind_check check (kind in ('approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing')) not valid;
alter table alert_choices validate constraint alert_choices_kind_check;
