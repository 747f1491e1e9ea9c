-- When somebody else may have acted in a user's name until: their sessions ended because of wrong codes, or they changed
-- their password. What they proposed before is not approved any more.
alter table users add column proposals_since timestamptz;
grant update (proposals_since) on users to sluice_service;
