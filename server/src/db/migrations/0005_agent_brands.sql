-- How an agent looks on its payment pages, and what such a page reads.

create table agent_brands (
  agent_id bigint primary key references agents,
  colour text check (colour ~ '^#[0-9a-f]{6}$'),
  logo bytea check (octet_length(logo) between 1 and 32768),
  -- No SVG: a drawing can hold scripts.
  logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  updated_at timestamptz not null,
  constraint agent_brands_logo_has_type check ((logo is null) = (logo_type is null))
);

-- Money that was not simply credited, by its order. Nearly all payments are, and cost nothing here.
create index payments_not_credited on payments (agent_id, order_id) where state <> 'credited';

grant select, insert, update on agent_brands to sluice_service;
