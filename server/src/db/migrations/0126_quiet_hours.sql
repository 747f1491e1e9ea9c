-- outside a transaction
-- Hours in which a person is not told what can wait, and a digest of the day before.

create table if not exists alert_times (
  user_id bigint primary key references users,
  zone text not null check (length(zone) between 1 and 60),
  quiet_from text check (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  quiet_to text check (quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  digest_at text check (digest_at ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  -- The last day that the person was told of, in their zone; what tells moves it on.
  digest_day date,
  constraint alert_times_quiet check (coalesce(quiet_from <> quiet_to, quiet_from is null and quiet_to is null))
);

-- What comes in quiet hours is held until they end, and then told with everything else that was.
alter table alert_deliveries drop constraint if exists alert_deliveries_state_check,
  add constraint alert_deliveries_state_check
    check (state in ('waiting', 'held', 'gathered', 'sent', 'given_up')) not valid;
alter table alert_deliveries validate constraint alert_deliveries_state_check;
alter table alert_deliveries drop constraint if exists alert_deliveries_due,
  add constraint alert_deliveries_due check ((state in ('waiting', 'held')) = (due_at is not null)) not valid;
alter table alert_deliveries validate constraint alert_deliveries_due;
alter table alert_deliveries drop constraint if exists alert_deliveries_ended,
  add constraint alert_deliveries_ended check ((state in ('waiting', 'held')) = (ended_at is null)) not valid;
alter table alert_deliveries validate constraint alert_deliveries_ended;
create index concurrently if not exists alert_deliveries_held on alert_deliveries (due_at) where state = 'held';

-- Never held: what a rule says about books that do not prove.
alter table alerts add column if not exists is_urgent boolean not null default false;
alter table alerts drop constraint if exists alerts_words_check,
  add constraint alerts_words_check check (length(words) between 1 and 4000) not valid;
alter table alerts validate constraint alerts_words_check;
alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'account_changed', 'authority_changed',
    'new_secret', 'callback_changed', 'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full', 'rule_fired',
    'rule_over', 'digest', 'held', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;
alter table alert_choices drop constraint if exists alert_choices_kind_check,
  add constraint alert_choices_kind_check check (kind in ('approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full', 'rule_fired',
    'rule_over', 'digest')) not valid;
alter table alert_choices validate constraint alert_choices_kind_check;

grant select, insert, delete, update (zone, quiet_from, quiet_to, digest_at, digest_day) on alert_times
  to sluice_service;
