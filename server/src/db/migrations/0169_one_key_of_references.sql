-- See 0168: the new key has the old one's name, by which a second order with the same refId is refused.
alter table orders drop constraint orders_agent_id_ref_id_key;
alter index orders_ref_id rename to orders_agent_id_ref_id_key;
