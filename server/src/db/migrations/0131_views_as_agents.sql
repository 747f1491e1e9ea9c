-- outside a transaction
-- Operators see the console as an agent's users do, for a while and without changing anything.
alter table sessions
  -- Whose console this session sees; null: its user's own.
  add column if not exists views_agent_id bigint,
  -- Until when. Null once that is over; then nothing is shown until the view is left.
  add column if not exists views_until timestamptz;
alter table sessions drop constraint if exists sessions_view,
  add constraint sessions_view check (views_until is null or views_agent_id is not null) not valid;
alter table sessions validate constraint sessions_view;
alter table sessions drop constraint if exists sessions_views_agent_id_fkey,
  add constraint sessions_views_agent_id_fkey foreign key (views_agent_id) references agents not valid;
alter table sessions validate constraint sessions_views_agent_id_fkey;
create index concurrently if not exists sessions_that_view on sessions (views_until)
  where views_until is not null;
grant update (views_agent_id, views_until) on sessions to sluice_service;
