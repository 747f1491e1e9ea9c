-- Which deposit a code of thirteen characters names, for payment companies whose references are shorter than our ids.
-- Which codes a deposit may have follows from its id, so a row that says otherwise is not believed.

create table deposit_codes (
  code text primary key check (code ~ '^DX[0-9A-HJKMNP-TV-Z]{11}$'),
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null
);

grant select, insert on deposit_codes to sluice_service;
