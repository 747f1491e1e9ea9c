-- outside a transaction
-- Slack beside the other channels, and rules that say what people want to be told of.

alter table alert_deliveries drop constraint if exists alert_deliveries_channel_check,
  add constraint alert_deliveries_channel_check
    check (channel in ('mail', 'webhook', 'telegram', 'line', 'slack')) not valid;
alter table alert_deliveries validate constraint alert_deliveries_channel_check;
alter table alert_channels drop constraint if exists alert_channels_channel_check,
  add constraint alert_channels_channel_check
    check (channel in ('webhook', 'telegram', 'line', 'slack')) not valid;
alter table alert_channels validate constraint alert_channels_channel_check;
-- Whoever knows the address of a Slack channel may write there: it is sealed, and the target names only its host.
alter table alert_channels drop constraint if exists alert_channels_signed,
  add constraint alert_channels_signed
    check ((channel in ('webhook', 'slack')) = (sealed_secret is not null)) not valid;
alter table alert_channels validate constraint alert_channels_signed;
alter table alert_choices drop constraint if exists alert_choices_channels_check,
  add constraint alert_choices_channels_check
    check (channels <@ array['mail', 'webhook', 'telegram', 'line', 'slack']) not valid;
alter table alert_choices validate constraint alert_choices_channels_check;
alter table alert_choices drop constraint if exists alert_choices_kind_check,
  add constraint alert_choices_kind_check check (kind in ('approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full', 'rule_fired',
    'rule_over')) not valid;
alter table alert_choices validate constraint alert_choices_kind_check;

-- Whom a rule names besides roles, and where they are told of it; empty: wherever each of them wants to be.
alter table alerts
  add column if not exists user_ids bigint[] not null default '{}',
  add column if not exists channels text[] not null default '{}';
alter table alerts drop constraint if exists alerts_somebody,
  add constraint alerts_somebody
    check ((user_id is null) = (cardinality(roles) > 0 or cardinality(user_ids) > 0)) not valid;
alter table alerts validate constraint alerts_somebody;
alter table alerts drop constraint if exists alerts_channels_check,
  add constraint alerts_channels_check
    check (channels <@ array['mail', 'webhook', 'telegram', 'line', 'slack']) not valid;
alter table alerts validate constraint alerts_channels_check;
alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'account_changed', 'authority_changed',
    'new_secret', 'callback_changed', 'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection', 'bank_account_full', 'rule_fired',
    'rule_over', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;

create table if not exists alert_rules (
  name text primary key check (length(name) between 1 and 60),
  kind text not null check (kind in ('payout_unknown', 'lane_probing', 'callbacks_failing', 'success_below',
    'balance_below', 'proof_red', 'breaks', 'nothing_for')),
  -- Minutes, a number, per cent, or minor units, as the kind has it.
  threshold bigint check (threshold >= 0),
  window_minutes integer check (window_minutes between 5 and 1440),
  min_orders integer check (min_orders between 1 and 1000000),
  order_kind text check (order_kind in ('deposit', 'withdraw')),
  -- What it is about; null: each agent, and each provider or bank account.
  agent_id bigint references agents,
  provider text check (length(provider) between 1 and 200),
  currency text check (currency ~ '^[A-Z]{3}$'),
  -- The time of day in which something is expected to happen.
  hours_from text check (hours_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  hours_to text check (hours_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  zone text check (length(zone) between 1 and 60),
  -- Who is told, and where; no channel: wherever each of them wants to be.
  roles text[] not null check (roles <@ array['admin', 'operator', 'viewer', 'agent']),
  user_ids bigint[] not null,
  channels text[] not null check (channels <@ array['mail', 'webhook', 'telegram', 'line', 'slack']),
  is_on boolean not null,
  updated_at timestamptz not null,
  updated_by text not null check (length(updated_by) between 3 and 254),
  -- By the database's time: who looks moves it on, so that nobody else looks meanwhile.
  look_at timestamptz not null,
  looked_at timestamptz,
  constraint alert_rules_somebody check (cardinality(roles) > 0 or cardinality(user_ids) > 0),
  -- An agent's users hear of their own agent alone.
  constraint alert_rules_of_agent check (agent_id is not null or not ('agent' = any (roles))),
  constraint alert_rules_hours check ((hours_from is not null and hours_to is not null and zone is not null
    and hours_from <> hours_to) = (kind = 'nothing_for')),
  constraint alert_rules_shape check (case kind
    when 'payout_unknown' then coalesce(threshold between 1 and 10080, false)
    when 'callbacks_failing' then coalesce(threshold between 1 and 10000, false) and provider is null
    when 'success_below' then coalesce(threshold between 1 and 100, false)
    when 'balance_below' then threshold is not null and (agent_id is null or provider is null)
    when 'breaks' then coalesce(threshold between 1 and 1000, false) and agent_id is null
    when 'nothing_for' then coalesce(threshold between 5 and 1440, false) and provider is null
    when 'lane_probing' then threshold is null and provider is null
    else threshold is null and agent_id is null and provider is null end),
  constraint alert_rules_parts check (
    (kind = 'success_below') = (window_minutes is not null and min_orders is not null)
    and (window_minutes is null) = (min_orders is null)
    and (order_kind is null or kind in ('success_below', 'nothing_for'))
    and (kind = 'balance_below') = (coalesce(currency, '') ~ '^[A-Z]{3}$'))
);
create index if not exists alert_rules_due on alert_rules (look_at) where is_on;

-- What a rule found wrong and has told of, until it is right again.
create table if not exists alert_rule_states (
  name text not null references alert_rules,
  subject text not null check (length(subject) between 1 and 200),
  since timestamptz not null,
  words text not null check (length(words) between 1 and 500),
  primary key (name, subject)
);

grant select, insert, delete on alert_rules, alert_rule_states to sluice_service;
grant update (kind, threshold, window_minutes, min_orders, order_kind, agent_id, provider, currency, hours_from,
  hours_to, zone, roles, user_ids, channels, is_on, updated_at, updated_by, look_at, looked_at)
  on alert_rules to sluice_service;
