-- Secrets of agents that may do only some things, where they were used from, and addresses for withdrawals.

-- Only requests from these addresses make withdrawals; empty: every address that is allowed at all.
alter table agents add column if not exists withdraw_ips text[] not null default '{}';
grant update (withdraw_ips) on agents to sluice_service;

-- Beside the at most two secrets in agent_keys, which may do everything.
create table agent_secrets (
  agent_id bigint not null references agents,
  n integer not null check (n > 0),
  name text not null check (length(name) between 1 and 60),
  scopes text[] not null,
  -- Only requests from these addresses; empty: every address.
  allowed_ips text[] not null,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 3 and 254),
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (agent_id, n),
  constraint agent_secrets_scopes check (
    cardinality(scopes) > 0 and scopes <@ array['deposit', 'withdraw', 'read', 'callback']),
  -- What signs callbacks is known to whoever receives them, and opens nothing.
  constraint agent_secrets_callback_alone check (
    not ('callback' = any(scopes)) or cardinality(scopes) = 1)
);

-- Where each secret was used from, so that a new address is noticed.
create table secret_addresses (
  agent_id bigint not null references agents,
  -- `main` for those in agent_keys, or the number of the secret.
  secret text not null check (secret ~ '^(main|[1-9][0-9]{0,8})$'),
  address text not null check (length(address) between 2 and 64),
  first_used_at timestamptz not null,
  primary key (agent_id, secret, address)
);

grant select, insert on agent_secrets, secret_addresses to sluice_service;
grant update (revoked_at, last_used_at) on agent_secrets to sluice_service;
