-- Who signs in to the console, their sessions and invitations, and the log of what they did.

create table users (
  user_id bigint primary key check (user_id > 0),
  email text not null unique
    check (email = lower(email) and email ~ '^[^@[:space:]]+@[^@[:space:]]+$' and length(email) <= 254),
  role text not null check (role in ('admin', 'operator', 'viewer', 'agent')),
  -- The one agent such a user sees.
  agent_id bigint references agents,
  -- Null until an invitation was accepted, and again after a reset: nobody can sign in then.
  password_hash text check (password_hash like '$argon2id$%'),
  sealed_totp_secret bytea,
  -- The time step of the last code that was used: no code counts twice, nor an older one after it.
  last_totp_step bigint,
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint users_agent_of_role check ((role = 'agent') = (agent_id is not null)),
  constraint users_both_factors check ((password_hash is null) = (sealed_totp_secret is null))
);

create table sessions (
  session_id uuid primary key,
  user_id bigint not null references users,
  -- The SHA-256 of what the browser holds: who reads this table cannot sign in with it.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  ip text not null,
  user_agent text check (length(user_agent) <= 256),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ended_at timestamptz
);

create index sessions_of_user on sessions (user_id, created_at);

create table invitations (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- Null for the first admin, who is not a user yet and says who they are.
  user_id bigint references users,
  sealed_totp_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When it was accepted, or replaced by a later one.
  ended_at timestamptz,
  constraint invitations_expire_later check (expires_at > created_at)
);

create index invitations_open on invitations (user_id) where ended_at is null;

-- No foreign keys but to who acted: the log outlives what it tells of.
create table audit_log (
  audit_id uuid primary key,
  at timestamptz not null,
  -- Null for the command line, and for a sign-in that named no user.
  user_id bigint references users,
  email text not null,
  role text,
  session_id uuid,
  ip text,
  action text not null check (action ~ '^[a-z][a-z_]{2,63}$'),
  subject_kind text not null check (subject_kind ~ '^[a-z][a-z_]{2,31}$'),
  subject_id text not null check (length(subject_id) between 1 and 256),
  agent_id bigint,
  outcome text not null check (outcome in ('asked', 'done', 'refused')),
  before json,
  after json,
  reason text check (length(reason) between 1 and 1000)
);

create index audit_log_of_user on audit_log (user_id, audit_id);
create index audit_log_of_subject on audit_log (subject_kind, subject_id, audit_id);
create index audit_log_of_action on audit_log (action, audit_id);

grant select, insert on users, sessions, invitations, audit_log to sluice_service;
grant update (role, agent_id, password_hash, sealed_totp_secret, last_totp_step, disabled_at,
              updated_at) on users to sluice_service;
grant update (last_seen_at, ended_at) on sessions to sluice_service;
grant update (ended_at) on invitations to sluice_service;
