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
  -- JSON: the number of each secret.
  secrets text not null check (octet_length(secrets) between 2 and 8192),
  used_at timestamptz not null,
  used_by text not null check (length(used_by) between 3 and 254),
  primary key (connector, n),
  foreign key (connector, version, run, passed)
    references connector_runs (connector, version, n, passed),
  constraint connector_uses_passed check (passed)
);

-- Deposits that a connector was asked to expect: with which version, and when to ask about them.
create table connector_deposits (
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  connector text not null check (connector ~ '^[a-z][a-z0-9-]{1,31}$'),
  version integer not null check (version > 0),
  -- The company's own id of it.
  their_id text check (length(their_id) between 1 and 128),
  made_at timestamptz not null,
  asks integer not null check (asks >= 0),
  -- Null: it is not asked about, or not any more.
  ask_at timestamptz,
  primary key (agent_id, order_id, connector)
);
create index connector_deposits_due on connector_deposits (ask_at) where ask_at is not null;
create index connector_deposits_old on connector_deposits (made_at) where ask_at is null;

grant select, insert on connectors, connector_versions, connector_secrets, connector_runs, connector_uses,
  connector_deposits to sluice_service;
grant update (their_id, asks, ask_at) on connector_deposits to sluice_service;
grant delete on connector_deposits to sluice_service;
