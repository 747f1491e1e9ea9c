-- outside a transaction
-- Files to and from the bank by SFTP.

alter table bank_accounts
  add column if not exists sftp_host text,
  add column if not exists sftp_port integer,
  add column if not exists sftp_user text,
  -- The server's keys, by commas: SHA256 and base64, as ssh-keygen -l writes them. With any other nothing is exchanged.
  add column if not exists sftp_host_key text,
  add column if not exists sftp_put_folder text,
  add column if not exists sftp_get_folder text,
  -- The private key, sealed, in base64.
  add column if not exists sftp_key text;
alter table bank_accounts drop constraint if exists bank_accounts_sftp,
  add constraint bank_accounts_sftp check (
    (sftp_host is null) = (sftp_port is null) and (sftp_host is null) = (sftp_user is null)
    and (sftp_host is null) = (sftp_host_key is null) and (sftp_host is null) = (sftp_key is null)
    and (sftp_host is not null or (sftp_put_folder is null and sftp_get_folder is null))) not valid;
alter table bank_accounts validate constraint bank_accounts_sftp;
alter table bank_accounts drop constraint if exists bank_accounts_sftp_texts,
  add constraint bank_accounts_sftp_texts check (
    length(sftp_host) between 1 and 253 and sftp_port between 1 and 65535 and length(sftp_user) between 1 and 100
    and length(sftp_host_key) between 50 and 400 and length(sftp_put_folder) between 1 and 500
    and length(sftp_get_folder) between 1 and 500 and length(sftp_key) <= 40000) not valid;
alter table bank_accounts validate constraint bank_accounts_sftp_texts;

-- That somebody lets a file go by SFTP. It is on disk before the first byte leaves, and names the only file there will be.
create table if not exists payout_file_puts (
  account text not null,
  file_id uuid not null,
  -- Who asks for it is who has the bytes, as the first and only one.
  first integer not null check (first = 1),
  round integer not null,
  remote_path text not null check (length(remote_path) between 1 and 700),
  size integer not null check (size > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  asked_by bigint not null check (asked_by > 0),
  asker text not null check (length(asker) between 3 and 254),
  reason text not null check (length(reason) between 3 and 500),
  asked_at timestamptz not null,
  tries integer not null check (tries >= 0),
  -- When it is tried next; null: it has ended, or a person has to look.
  act_at timestamptz,
  fault text check (length(fault) between 1 and 1000),
  primary key (account, file_id),
  -- Which says that two people have looked at it, and in which round.
  constraint payout_file_puts_of_download foreign key (account, file_id, first, round, asked_by)
    references payout_file_downloads (account, file_id, n, round, downloaded_by)
);
create index if not exists payout_file_puts_due on payout_file_puts (act_at) where act_at is not null;

-- How far a file has come: bytes of it may be in the bank's folder, its final name is about to be given, and was.
-- Or somebody brings it by hand, which nobody can of what has bytes there.
create table if not exists payout_file_put_steps (
  account text not null,
  file_id uuid not null,
  step text not null check (step in ('uploading', 'renaming', 'arrived', 'withdrawn')),
  follows text,
  -- In which try.
  try integer not null check (try >= 0),
  at timestamptz not null,
  primary key (account, file_id, step),
  foreign key (account, file_id) references payout_file_puts,
  constraint payout_file_put_steps_in_order check (
    coalesce(follows, '') = case step when 'renaming' then 'uploading' else '' end),
  constraint payout_file_put_steps_follow foreign key (account, file_id, follows)
    references payout_file_put_steps (account, file_id, step)
);
create unique index if not exists payout_file_put_steps_one_way on payout_file_put_steps (account, file_id)
  where step in ('uploading', 'withdrawn');

-- 0: this service, which saw the file arrive.
alter table payout_file_sendings add column if not exists put_step text;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_sent_by_check,
  add constraint payout_file_sendings_sent_by_check check (sent_by >= 0) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_sent_by_check;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_seen,
  add constraint payout_file_sendings_seen check (
    (sent_by = 0) = (put_step is not null) and coalesce(put_step, 'arrived') = 'arrived') not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_seen;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_arrived,
  add constraint payout_file_sendings_arrived foreign key (account, file_id, put_step)
    references payout_file_put_steps (account, file_id, step) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_arrived;

-- The bank's files that were read, as its server lists them. They stay there.
create table if not exists bank_fetches (
  account text not null references bank_accounts,
  name text not null check (length(name) between 1 and 255),
  size bigint not null check (size >= 0),
  modified_at timestamptz not null,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  became text not null check (became in ('statement', 'report', 'refused')),
  said text not null check (length(said) between 1 and 2000),
  fetched_at timestamptz not null,
  primary key (account, name, size, modified_at),
  constraint bank_fetches_read check (became = 'refused' or sha256 is not null)
);

-- How the connection to each bank is at the moment.
create table if not exists bank_connections (
  account text primary key references bank_accounts,
  fault text check (length(fault) between 1 and 1000),
  since timestamptz not null,
  looked_at timestamptz not null
);

alter table bank_files drop constraint if exists bank_files_via_check,
  add constraint bank_files_via_check check (via in ('console', 'command', 'folder', 'sftp')) not valid;
alter table bank_files validate constraint bank_files_via_check;

alter table alerts drop constraint if exists alerts_kind_check,
  add constraint alerts_kind_check check (kind in ('sign_in_new_place', 'new_secret', 'callback_changed',
    'bank_account_changed', 'approval_waiting', 'payout_unknown', 'payout_alarm', 'proof_red', 'reconcile_break',
    'callbacks_failing', 'bank_connection', 'test')) not valid;
alter table alerts validate constraint alerts_kind_check;
alter table alert_choices drop constraint if exists alert_choices_kind_check,
  add constraint alert_choices_kind_check check (kind in ('approval_waiting', 'payout_unknown', 'payout_alarm',
    'proof_red', 'reconcile_break', 'callbacks_failing', 'bank_connection')) not valid;
alter table alert_choices validate constraint alert_choices_kind_check;

grant select, insert on payout_file_puts, payout_file_put_steps, bank_fetches, bank_connections to sluice_service;
grant update (tries, act_at, fault) on payout_file_puts to sluice_service;
grant update (fault, since, looked_at) on bank_connections to sluice_service;
grant update (sftp_host, sftp_port, sftp_user, sftp_host_key, sftp_put_folder, sftp_get_folder, sftp_key)
  on bank_accounts to sluice_service;
