-- Reports that go out by themselves: what is made, when and for whom; each period once; and the bytes that were sent.

create table report_schedules (
  schedule_id uuid primary key,
  name text not null constraint report_schedules_name_key unique check (length(name) between 1 and 60),
  -- Whose statement it is; null: the house's, with a line for each agent.
  agent_id bigint references agents,
  every text not null check (every in ('day', 'week', 'month')),
  -- The time of day at which it is made, after the period has ended.
  made_at text not null check (made_at ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  zone text not null check (length(zone) between 1 and 60),
  formats text[] not null check (formats <@ array['csv', 'xlsx', 'pdf'] and cardinality(formats) > 0),
  with_rows boolean not null,
  way text not null check (way in ('mail', 'sftp')),
  recipients text[] not null check (cardinality(recipients) <= 20),
  sftp_host text check (length(sftp_host) between 1 and 253),
  sftp_port integer check (sftp_port between 1 and 65535),
  sftp_user text check (length(sftp_user) between 1 and 100),
  -- The server's keys, by commas: with any other nothing is exchanged.
  sftp_host_key text check (length(sftp_host_key) between 50 and 400),
  sftp_folder text check (length(sftp_folder) between 1 and 500),
  -- The private key, sealed.
  sealed_sftp_key bytea,
  is_on boolean not null,
  -- Periods that ended before are not made by themselves.
  starts_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null check (length(updated_by) between 3 and 254),
  constraint report_schedules_way check (case way
    when 'mail' then cardinality(recipients) > 0 and num_nulls(sftp_host, sftp_port, sftp_user, sftp_host_key,
      sftp_folder, sealed_sftp_key) = 6
    else cardinality(recipients) = 0 and num_nonnulls(sftp_host, sftp_port, sftp_user, sftp_host_key, sftp_folder,
      sealed_sftp_key) = 6 end)
);

create table report_runs (
  schedule_id uuid not null references report_schedules,
  -- A day, a week or a month, such as 2026-11-16, 2026-W47 or 2026-11.
  period text not null check (period ~ '^[0-9]{4}-([0-9]{2}(-[0-9]{2})?|W[0-9]{2})$'),
  state text not null check (state in ('waiting', 'sent', 'given_up')),
  attempts integer not null check (attempts >= 0),
  created_at timestamptz not null,
  due_at timestamptz,
  ended_at timestamptz,
  error text check (length(error) between 1 and 500),
  primary key (schedule_id, period),
  constraint report_runs_due check ((state = 'waiting') = (due_at is not null)),
  constraint report_runs_ended check ((state = 'waiting') = (ended_at is null))
);
create index report_runs_waiting on report_runs (due_at) where state = 'waiting';

-- Written once: whoever gets the report a second time gets the same bytes.
create table report_files (
  schedule_id uuid not null,
  period text not null,
  format text not null check (format in ('csv', 'xlsx', 'pdf')),
  name text not null check (length(name) between 5 and 200),
  size integer not null check (size > 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content bytea not null,
  made_at timestamptz not null,
  primary key (schedule_id, period, format),
  constraint report_files_of_run foreign key (schedule_id, period) references report_runs
);
create index report_files_made_at on report_files (made_at);

grant select, insert, delete on report_schedules, report_runs, report_files to sluice_service;
grant update (agent_id, every, made_at, zone, formats, with_rows, way, recipients, sftp_host, sftp_port, sftp_user,
  sftp_host_key, sftp_folder, sealed_sftp_key, is_on, updated_at, updated_by) on report_schedules to sluice_service;
grant update (state, attempts, due_at, ended_at, error) on report_runs to sluice_service;
