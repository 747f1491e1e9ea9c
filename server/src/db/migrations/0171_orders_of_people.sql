-- outside a transaction
-- Lists of orders are filtered by who looks into them.
create index concurrently if not exists record_notes_by_assignee
  on record_notes (agent_id, assignee, kind, subject) where assignee is not null;
