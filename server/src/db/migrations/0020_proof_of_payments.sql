-- Where the endless second look of the proof stands in the payments.
alter table proofs add column again_payment text;
