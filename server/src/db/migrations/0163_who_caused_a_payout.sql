-- outside a transaction
-- A payout that an operator caused, such as a refund, is proposed in their name, so that they cannot approve it. What its
-- agent cancels meanwhile is taken back by nobody who signed in.

alter table proposal_decisions drop constraint if exists decisions_withdrawn_by_proposer,
  add constraint decisions_withdrawn_by_proposer
    check (verdict <> 'withdrawn' or decided_by in (0, proposed_by)) not valid;
alter table proposal_decisions validate constraint decisions_withdrawn_by_proposer;
