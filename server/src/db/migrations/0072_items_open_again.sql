-- outside a transaction
-- An item that was closed opens again when its provider says something else, or when what was found out is needed.

-- When it last did. From then on only a person decides on it.
alter table open_items add column if not exists reopened_at timestamptz;
grant update (reopened_at) on open_items to sluice_service;
