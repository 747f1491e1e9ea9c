-- What the answer to a request said, and an index by which errors are found among many requests that went well. Nobody
-- waits for what is written to this log.
alter table api_requests
  add column detail text,
  add constraint api_requests_detail_check check (length(detail) <= 1000) not valid;
create index api_requests_refused on api_requests (agent_id, at, request_id) where status >= 400;
