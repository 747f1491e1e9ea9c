-- Two people decide: proposals, decisions on them, which actions need them, and alarms. The service may only
-- insert and read proposals and decisions, so that nothing of them changes later.

-- Each set of credentials of a user. Row 0 of user 0 stands for who does not sign in: the command line, an agent.
create table user_credentials (
  user_id bigint not null,
  n integer not null check (n >= 0),
  -- The user who reset the ones before, and so could hold these; 0: nobody did, or the command line.
  reset_by bigint not null check (reset_by >= 0),
  made_at timestamptz not null,
  primary key (user_id, n),
  constraint user_credentials_as_used unique (user_id, n, reset_by),
  constraint user_credentials_by_another check (user_id = 0 or user_id <> reset_by),
  constraint user_credentials_nobody check (user_id > 0 or (user_id = 0 and n = 0 and reset_by = 0))
);

insert into user_credentials (user_id, n, reset_by, made_at) values (0, 0, 0, '2026-01-01T00:00:00Z');

-- Who reset those who are there already is in the audit log.
insert into user_credentials (user_id, n, reset_by, made_at)
select u.user_id, 1, coalesce(nullif(
    (select a.user_id from audit_log a
     where a.subject_kind = 'user' and a.subject_id = u.user_id::text and a.outcome = 'done'
       and a.action = 'reset_user'
     order by a.audit_id desc limit 1), u.user_id), 0), u.created_at
from users u;

create table proposals (
  proposal_id uuid primary key,
  action text not null check (action ~ '^[a-z][a-z_]{2,63}$'),
  subject_kind text not null check (subject_kind ~ '^[a-z][a-z_]{2,31}$'),
  subject_id text not null check (length(subject_id) between 1 and 256),
  -- 0: no agent is concerned.
  agent_id bigint not null check (agent_id >= 0),
  -- In minor units.
  amount bigint,
  currency text,
  -- The request that runs when it is approved: method and path of the console's API, parameters and body.
  route text not null check (length(route) between 3 and 200),
  input json not null,
  -- What would change, as it is shown.
  before json,
  after json,
  -- The permission that who approves must have, and whether only admins do.
  permission text not null check (permission ~ '^[a-z_]{3,40}$'),
  admin_only boolean not null,
  digest bytea not null check (octet_length(digest) = 32),
  -- 0: the command line, or an agent.
  proposed_by bigint not null check (proposed_by >= 0),
  proposer text not null check (length(proposer) between 3 and 254),
  credential integer not null,
  proposer_reset_by bigint not null,
  session_id uuid,
  ip text,
  reason text check (length(reason) between 1 and 1000),
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  constraint proposals_as_shown unique (proposal_id, digest, proposed_by, proposer_reset_by, expires_at),
  foreign key (proposed_by, credential, proposer_reset_by)
    references user_credentials (user_id, n, reset_by),
  constraint proposals_amount check (
    (amount is null) = (currency is null) and (currency is null or currency ~ '^[A-Z]{3}$')),
  constraint proposals_expire_later check (expires_at > proposed_at)
);

create index proposals_of_subject on proposals (subject_kind, subject_id, proposal_id);
create index proposals_by_time on proposals (proposed_at);

-- One for each proposal. It repeats what it is about, so that checks can compare who proposed and who decided.
create table proposal_decisions (
  proposal_id uuid primary key,
  digest bytea not null,
  proposed_by bigint not null,
  proposer_reset_by bigint not null,
  expires_at timestamptz not null,
  verdict text not null check (verdict in ('approved', 'declined', 'withdrawn', 'expired')),
  decided_by bigint not null,
  decider text not null check (length(decider) between 3 and 254),
  credential integer not null,
  reset_by bigint not null,
  session_id uuid,
  ip text,
  reason text check (length(reason) between 1 and 1000),
  decided_at timestamptz not null,
  constraint proposal_decisions_as_decided unique (proposal_id, verdict),
  constraint proposal_decisions_of_proposal
    foreign key (proposal_id, digest, proposed_by, proposer_reset_by, expires_at)
    references proposals (proposal_id, digest, proposed_by, proposer_reset_by, expires_at),
  constraint proposal_decisions_of_credential
    foreign key (decided_by, credential, reset_by) references user_credentials (user_id, n, reset_by),
  constraint decisions_by_another check (
    verdict not in ('approved', 'declined') or (decided_by > 0 and decided_by <> proposed_by)),
  -- Neither of the two reset the other, nor did a third reset both: who did could sign in as both.
  constraint decisions_independent check (
    verdict <> 'approved'
    or (decided_by <> proposer_reset_by
      and (reset_by = 0 or reset_by not in (proposed_by, proposer_reset_by)))),
  constraint decisions_withdrawn_by_proposer check (verdict <> 'withdrawn' or decided_by = proposed_by),
  constraint decisions_in_time check (
    case when verdict = 'expired' then decided_by = 0 and decided_at >= expires_at
      else decided_at < expires_at end)
);

-- Written in the transaction of the effect, where it has one of its own, or in that of the refusal: it happens
-- once, or never.
create table proposal_effects (
  proposal_id uuid primary key,
  verdict text not null check (verdict = 'approved'),
  at timestamptz not null,
  foreign key (proposal_id, verdict) references proposal_decisions (proposal_id, verdict)
);

create table proposal_ends (
  proposal_id uuid primary key,
  verdict text not null check (verdict = 'approved'),
  state text not null check (state in ('done', 'refused')),
  -- The problem, if it was refused.
  code text check (length(code) between 3 and 64),
  detail text check (length(detail) between 1 and 2000),
  at timestamptz not null,
  foreign key (proposal_id, verdict) references proposal_decisions (proposal_id, verdict),
  constraint proposal_ends_problem check ((state = 'refused') = (code is not null))
);

-- An answer that holds a secret, sealed, written with the effect. The look that shows it to the proposer deletes
-- it.
create table proposal_answers (
  proposal_id uuid primary key references proposal_effects,
  sealed_answer bytea not null,
  made_at timestamptz not null
);

-- Each time that a process begins the action of an approved proposal.
create table proposal_runs (
  proposal_id uuid not null references proposals,
  n integer not null check (n > 0),
  at timestamptz not null,
  primary key (proposal_id, n)
);

-- Which actions need two people. The most special row counts; without one, the mode decides.
create table approval_rules (
  action text not null check (action ~ '^[a-z][a-z_]{2,63}$'),
  -- 0: every agent.
  agent_id bigint not null check (agent_id >= 0),
  -- Empty: every currency.
  currency text not null check (currency = '' or currency ~ '^[A-Z]{3}$'),
  needs_two boolean not null,
  -- In minor units: only above this amount. Null: any amount.
  above bigint check (above >= 0),
  admin_only boolean not null,
  updated_at timestamptz not null,
  updated_by text not null check (length(updated_by) between 3 and 254),
  primary key (action, agent_id, currency),
  constraint approval_rules_amount check (above is null or (needs_two and currency ~ '^[A-Z]{3}$'))
);

-- What every admin has to take note of.
create table alarms (
  alarm_id uuid primary key,
  at timestamptz not null,
  raised_by text not null check (length(raised_by) between 3 and 254),
  words text not null check (length(words) between 1 and 2000)
);

create table alarm_acknowledgements (
  alarm_id uuid not null references alarms,
  user_id bigint not null references users,
  at timestamptz not null,
  primary key (alarm_id, user_id)
);

grant select, insert on user_credentials, proposals, proposal_decisions, proposal_effects, proposal_ends,
  proposal_runs, proposal_answers, approval_rules, alarms, alarm_acknowledgements to sluice_service;
grant delete on proposal_answers, approval_rules to sluice_service;
