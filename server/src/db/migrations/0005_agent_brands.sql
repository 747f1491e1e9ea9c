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

-- Money that came in for an order and did not pay it. Nearly all does, and costs nothing here.
create index payments_beside_order on payments (agent_id, order_id)
  where credited_to is distinct from 'order';

grant select, insert, update on agent_brands to sluice_service;
