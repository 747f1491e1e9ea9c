-- Whoever opens an invitation first gets the authenticator's secret, drawn for their browser. Invitations that are
-- under way get a new one when they are opened.
alter table invitations alter column sealed_totp_secret drop not null;
alter table invitations add column if not exists browser_hash bytea
  constraint invitations_browser_hash_check check (octet_length(browser_hash) = 32);
alter table invitations drop constraint if exists invitations_opened,
  add constraint invitations_opened
    check (browser_hash is null or sealed_totp_secret is not null) not valid;
alter table invitations validate constraint invitations_opened;
grant update (browser_hash, sealed_totp_secret) on invitations to sluice_service;

-- Wrong codes in a row of somebody who knew the password or had a session, and when that became too many.
alter table users add column if not exists code_failures integer not null default 0
  constraint users_code_failures_check check (code_failures >= 0);
alter table users add column if not exists device_failures integer not null default 0
  constraint users_device_failures_check check (device_failures >= 0);
alter table users add column if not exists codes_stopped_at timestamptz;
-- Devices that signed in before this are strangers again.
alter table users add column if not exists devices_since timestamptz;
grant update (code_failures, device_failures, codes_stopped_at, devices_since) on users to sluice_service;
