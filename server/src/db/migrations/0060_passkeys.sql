-- Passkeys beside the authenticator's codes.

create table passkeys (
  -- What the authenticator calls it, in base64url.
  credential_id text primary key check (credential_id ~ '^[A-Za-z0-9_-]+$' and length(credential_id) between 16 and 1400),
  user_id bigint not null references users,
  name text not null check (length(name) between 1 and 60),
  public_key bytea not null check (octet_length(public_key) between 16 and 8192),
  -- How often it was used, as it says itself; some always say 0.
  counter bigint not null check (counter >= 0),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id, created_at);

-- What an authenticator is asked to sign, each once: the answer deletes it.
create table passkey_challenges (
  challenge text primary key check (challenge ~ '^[A-Za-z0-9_-]{43}$'),
  purpose text not null check (purpose in ('register', 'sign_in', 'act')),
  -- Whose answer counts, and in which session; null for signing in, where that is not known yet.
  user_id bigint references users,
  session_id uuid references sessions,
  expires_at timestamptz not null,
  constraint passkey_challenges_bound check (
    (purpose = 'sign_in') = (user_id is null) and (user_id is null) = (session_id is null))
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- What stands for a fresh code after a passkey was used in a session: once, and not for long.
create table passkey_proofs (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id bigint not null references users,
  session_id uuid not null references sessions,
  expires_at timestamptz not null
);

grant select, insert, delete on passkeys, passkey_challenges, passkey_proofs to sluice_service;
grant update (counter, last_used_at) on passkeys to sluice_service;
