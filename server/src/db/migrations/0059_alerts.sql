-- What people are told outside of the console: what happened, who is told where, and what each wants to hear of.

create table alerts (
  alert_id uuid primary key,
  kind text not null check (kind in ('sign_in_new_place', 'new_secret', 'callback_changed',
    'bank_account_changed', 'approval_waiting', 'payout_unknown', 'proof_red', 'reconcile_break',
    'callbacks_failing', 'test')),
  -- What it is about. While it waits to be handed out, the same about the same is counted here.
  subject text not null check (length(subject) between 1 and 200),
  -- The one person who is told; null: everybody who has one of the roles.
  user_id bigint references users,
  roles text[] not null check (roles <@ array['admin', 'operator', 'viewer', 'agent']),
  -- Of which agent the users with the role agent are; null: none of them.
  agent_id bigint references agents,
  -- Who is not told, as they know; 0: nobody.
  except_user_id bigint not null check (except_user_id >= 0),
  words text not null check (length(words) between 1 and 2000),
  count integer not null check (count > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  handed_out_at timestamptz,
  constraint alerts_times check (first_at <= last_at),
  constraint alerts_somebody check ((user_id is null) = (cardinality(roles) > 0))
);
create unique index alerts_gathering on alerts (kind, subject) where handed_out_at is null;
create index alerts_handed_out on alerts (kind, subject, handed_out_at);

create table alert_deliveries (
  alert_id uuid not null references alerts,
  user_id bigint not null references users,
  channel text not null check (channel in ('mail', 'webhook', 'telegram', 'line')),
  state text not null check (state in ('waiting', 'sent', 'given_up')),
  attempts integer not null check (attempts >= 0),
  due_at timestamptz,
  ended_at timestamptz,
  error text check (length(error) between 1 and 500),
  primary key (alert_id, user_id, channel),
  constraint alert_deliveries_due check ((state = 'waiting') = (due_at is not null)),
  constraint alert_deliveries_ended check ((state = 'waiting') = (ended_at is null))
);
create index alert_deliveries_waiting on alert_deliveries (due_at) where state = 'waiting';
create index alert_deliveries_of_user on alert_deliveries (user_id, alert_id);

-- Where a person is told besides by mail, which goes to the address that they sign in with.
create table alert_channels (
  user_id bigint not null references users,
  channel text not null check (channel in ('webhook', 'telegram', 'line')),
  target text not null check (length(target) between 1 and 2048),
  -- What signs the requests of a webhook.
  sealed_secret bytea,
  updated_at timestamptz not null,
  primary key (user_id, channel),
  constraint alert_channels_signed check ((channel = 'webhook') = (sealed_secret is not null))
);

-- Where a person hears of a kind; without a row, by mail. Kinds about security are not here: they go everywhere.
create table alert_choices (
  user_id bigint not null references users,
  kind text not null check (kind in ('approval_waiting', 'payout_unknown', 'proof_red',
    'reconcile_break', 'callbacks_failing')),
  channels text[] not null check (channels <@ array['mail', 'webhook', 'telegram', 'line']),
  primary key (user_id, kind)
);

-- What is wrong at the moment, so that each time it begins it is told once.
create table alert_watch (
  kind text not null check (length(kind) between 3 and 40),
  subject text not null check (length(subject) between 1 and 200),
  since timestamptz not null,
  primary key (kind, subject)
);

grant select, insert on alerts, alert_deliveries, alert_channels, alert_choices, alert_watch to sluice_service;
grant update (words, count, last_at, handed_out_at) on alerts to sluice_service;
grant update (state, attempts, due_at, ended_at, error) on alert_deliveries to sluice_service;
grant update (target, sealed_secret, updated_at) on alert_channels to sluice_service;
grant update (channels) on alert_choices to sluice_service;
grant delete on alerts, alert_deliveries, alert_channels, alert_watch to sluice_service;
