-- outside a transaction
-- Lists of orders are filtered by a tag of the order or of its user.
create index concurrently if not exists record_tags_by_tag
  on record_tags (agent_id, tag, kind, subject) where is_on;
