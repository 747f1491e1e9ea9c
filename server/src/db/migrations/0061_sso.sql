-- outside a transaction
-- Users who sign in at an issuer of OpenID Connect: known by issuer and subject, with a role of the house, no password.

alter table users
  add column if not exists oidc_issuer text,
  add column if not exists oidc_subject text;
alter table users drop constraint if exists users_oidc,
  add constraint users_oidc check (
    (oidc_issuer is null) = (oidc_subject is null)
    and length(oidc_issuer) between 8 and 500 and length(oidc_subject) between 1 and 255) not valid;
alter table users validate constraint users_oidc;
alter table users drop constraint if exists users_oidc_of_the_house,
  add constraint users_oidc_of_the_house check (
    oidc_issuer is null or (role <> 'agent' and password_hash is null)) not valid;
alter table users validate constraint users_oidc_of_the_house;
-- A password and an authenticator, or the issuer and an authenticator.
alter table users drop constraint if exists users_both_factors,
  add constraint users_both_factors check (
    oidc_issuer is not null or (password_hash is null) = (sealed_totp_secret is null)) not valid;
alter table users validate constraint users_both_factors;
create unique index if not exists users_oidc_key on users (oidc_issuer, oidc_subject);

-- Sign-ins under way, each for the browser that holds the token and no other.
create table if not exists oidc_sign_ins (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- Whom the issuer has named; null until it has.
  user_id bigint references users,
  expires_at timestamptz not null
);
create index if not exists oidc_sign_ins_expiry on oidc_sign_ins (expires_at);

grant select, insert, delete on oidc_sign_ins to sluice_service;
