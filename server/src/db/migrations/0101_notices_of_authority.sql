-- outside a transaction
-- People are told of changes to their own account, and admins of who may do what.
alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'account_changed', 'authority_changed',
    'new_secret', 'callback_changed', 'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;
