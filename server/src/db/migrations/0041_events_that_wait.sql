-- outside a transaction
-- What a provider reported and nobody can act on is closed by a person, and no agent's holds up another's.

alter table notice_events drop constraint if exists notice_events_result_check,
  add constraint notice_events_result_check
    check (result in ('applied', 'unchanged', 'refused', 'waiting', 'closed')) not valid;
alter table notice_events validate constraint notice_events_result_check;

-- A person closes it on evidence.
alter table notice_events drop constraint if exists notice_events_closed,
  add constraint notice_events_closed check (result <> 'closed' or length(detail) > 0) not valid;
alter table notice_events validate constraint notice_events_closed;

create index concurrently if not exists notice_events_due_of_agent
  on notice_events (agent_id, provider, act_at) where act_at is not null;
