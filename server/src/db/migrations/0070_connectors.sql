-- Payment companies that are connected by a document: its versions, sealed secrets, what was tried on it, what is used.

create table connectors (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{1,31}$'),
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 3 and 254)
);

create table connector_versions (
  connector text not null references connectors,
  version integer not null check (version > 0),
  -- JSON, as it was given.
  document text not null check (octet_length(document) between 2 and 262144),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  added_at timestamptz not null,
  added_by text not null check (length(added_by) between 3 and 254),
  primary key (connector, version),
  constraint connector_versions_once unique (connector, sha256)
);

-- A secret gets a new number when it changes.
create table connector_secrets (
  connector text not null references connectors,
  secret text not null check (secret ~ '^[a-z][A-Za-z0-9_]{0,39}$'),
  n integer not null check (n > 0),
  sealed bytea not null check (octet_length(sealed) <= 16384),
  added_at timestamptz not null,
  added_by text not null check (length(added_by) between 3 and 254),
  primary key (connector, secret, n)
);

-- Samples of what the company says, tried on a version.
create table connector_runs (
  connector text not null,
  version integer not null,
  n integer not null check (n > 0),
  samples text not null check (octet_length(samples) between 2 and 1048576),
  passed boolean not null,
  -- JSON: what was made of each sample.
  results text not null check (octet_length(results) between 2 and 1048576),
  ran_at timestamptz not null,
  ran_by text not null check (length(ran_by) between 3 and 254),
  primary key (connector, version, n),
  foreign key (connector, version) references connector_versions,
  constraint connector_runs_as_ran unique (connector, version, n, passed)
);

-- Which version is used from when, and with which secrets: the newest row counts.
create table connector_uses (
  connector text not null references connectors,
  n integer not null check (n > 0),
  version integer not null,
  -- The run of samples that the version has passed.
  run integer not null,
  passed boolean not null,
  -- Since which use its secrets have been of the same account at the company.
  same_since integer not null,
  -- Notices that are signed with secrets of the uses before are not taken any more.
  former_void boolean not null,
  used_at timestamptz not null,
  used_by text not null check (length(used_by) between 3 and 254),
  primary key (connector, n),
  foreign key (connector, version, run, passed)
    references connector_runs (connector, version, n, passed),
  constraint connector_uses_passed check (passed),
  constraint connector_uses_same_since check (same_since between 1 and n),
  constraint connector_uses_as_used unique (connector, n, version)
);

create table connector_use_secrets (
  connector text not null,
  n integer not null,
  secret text not null,
  secret_n integer not null,
  primary key (connector, n, secret),
  foreign key (connector, n) references connector_uses,
  foreign key (connector, secret, secret_n) references connector_secrets
);

-- Deposits that a connector was asked to expect: with which use, and when to ask about them.
create table connector_deposits (
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  connector text not null,
  use integer not null,
  version integer not null,
  made_at timestamptz not null,
  asks integer not null check (asks >= 0),
  -- How often it is asked about.
  every_s integer check (every_s > 0),
  -- Null: it is not asked about, or not any more.
  ask_at timestamptz,
  primary key (agent_id, order_id, connector),
  foreign key (connector, use, version) references connector_uses (connector, n, version)
);
create index connector_deposits_due on connector_deposits (ask_at) where ask_at is not null;
create index connector_deposits_old on connector_deposits (made_at) where ask_at is null;

-- The company's own ids of a deposit: more than one if it was asked for again.
create table connector_deposit_ids (
  agent_id bigint not null,
  order_id uuid not null,
  connector text not null,
  their_id text not null check (length(their_id) between 1 and 128),
  primary key (agent_id, order_id, connector, their_id),
  foreign key (agent_id, order_id, connector) references connector_deposits on delete cascade
);

-- Who reports the lines of a bank account: its feed, or a connector. Two would report the same money twice.
create table line_sources (
  account text primary key references bank_accounts,
  -- Null: its feed.
  connector text references connectors
);
insert into line_sources (account) select name from bank_accounts where feed <> 'none';

grant select, insert on connectors, connector_versions, connector_secrets, connector_runs, connector_uses,
  connector_use_secrets, connector_deposits, connector_deposit_ids, line_sources to sluice_service;
grant update (asks, every_s, ask_at) on connector_deposits to sluice_service;
grant delete on connector_deposits, connector_deposit_ids, line_sources to sluice_service;
