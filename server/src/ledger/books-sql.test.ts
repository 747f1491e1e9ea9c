import { expect, it } from 'vitest'
import * as sql from './books-sql.ts'
import { claimsById, insertClaims } from './payment-claims.ts'

/** As the database gets it, but for where its lines end. */
const sent = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/(.{1,90})(?: |$)/g, '$1\n')
    .trim()

it('every statement whose columns follow from a description says what it seems to say', () => {
  expect(sent(sql.ordersById)).toMatchInlineSnapshot(`
    "select o.agent_id as "agentId", o.order_id as "orderId", o.kind, o.ref_id as "refId",
    o.refund_of as "refundOf", o.user_id as "userId", o.currency, o.amount as "amountMinor",
    o.payable as "payableMinor", o.fee as "feeMinor", o.fee_rule as "feeRule", o.late_money as
    "lateMoney", o.reserve_rule as "reserveRule", o.revert_fee as "revertFee", o.account_name
    as "accountName", o.account_no as "accountNo", o.bank_code as "bankCode", o.extra_params
    as "extraParams", o.status, o.version, o.answer, o.created_at as "createdAt", o.expires_at
    as "expiresAt", o.completed_at as "completedAt", o.paid_amount as "paidAmountMinor",
    o.paid_fee as "paidFeeMinor", o.release_at as "releaseAt", o.provider, o.provider_ref as
    "providerRef", o.handed_over_at as "handedOverAt", o.instructions from orders o join
    unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id) on o.agent_id = k.agent_id and
    o.order_id = k.order_id"
  `)
  expect(sent(sql.paymentsById)).toMatchInlineSnapshot(`
    "select p.agent_id as "agentId", p.payment_id as "paymentId", p.order_id as "orderId",
    p.amount as "amountMinor", p.paid_at as "paidAt", p.reported_at as "reportedAt",
    p.payer_account_no as "payer.accountNo", p.payer_account_name as "payer.accountName",
    p.payer_bank_code as "payer.bankCode", p.state, p.why, p.credited_to as "creditedTo",
    p.evidence, p.received_seq as "receivedSeq", p.returned_seq as "returnedSeq" from payments
    p join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id) on p.agent_id = k.agent_id
    and p.payment_id = k.payment_id"
  `)
  expect(sent(sql.insertOrders)).toMatchInlineSnapshot(`
    "insert into orders (agent_id, order_id, kind, ref_id, refund_of, user_id, currency,
    amount, payable, fee, fee_rule, late_money, reserve_rule, revert_fee, account_name,
    account_no, bank_code, extra_params, status, version, answer, created_at, expires_at,
    completed_at, paid_amount, paid_fee, release_at, provider, provider_ref, handed_over_at,
    instructions) select * from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[],
    $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
    $18::text[], $19::text[], $20::int[], $21::text[], $22::timestamptz[], $23::timestamptz[],
    $24::timestamptz[], $25::bigint[], $26::bigint[], $27::timestamptz[], $28::text[],
    $29::text[], $30::timestamptz[], $31::text[]) on conflict do nothing returning order_id"
  `)
  expect(sent(sql.updateOrders)).toMatchInlineSnapshot(`
    "update orders o set status = u.status, version = u.version, completed_at = u.completed_at,
    paid_amount = u.paid_amount, paid_fee = u.paid_fee, release_at = u.release_at, provider =
    u.provider, provider_ref = u.provider_ref, handed_over_at = u.handed_over_at, instructions
    = u.instructions, answer = coalesce(u.answer, o.answer) from unnest($1::bigint[],
    $2::uuid[], $3::text[], $4::int[], $5::timestamptz[], $6::bigint[], $7::bigint[],
    $8::timestamptz[], $9::text[], $10::text[], $11::timestamptz[], $12::text[], $13::int[],
    $14::text[]) u(agent_id, order_id, status, version, completed_at, paid_amount, paid_fee,
    release_at, provider, provider_ref, handed_over_at, instructions, version_read, answer)
    where o.agent_id = u.agent_id and o.order_id = u.order_id and o.version = u.version_read"
  `)
  expect(sent(sql.insertJournal)).toMatchInlineSnapshot(`
    "insert into journal (agent_id, seq, order_id, event, at, currency, available_change,
    held_change, reserve_change, suspense_change, unexplained_change, clearing_change,
    fees_change, costs_change, adjustments_change, differences_change, transfers_change,
    available, held, reserve, suspense, unexplained, clearing, fees, costs, adjustments,
    differences, transfers, clearing_at, clearing_there, once_key, reason, hash) select * from
    unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
    $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
    $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[],
    $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[], $29::text[], $30::bigint[],
    $31::text[], $32::text[], $33::text[])"
  `)
  expect(sent(sql.writtenRows)).toMatchInlineSnapshot(`
    "select 1 from journal j join unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[],
    $5::timestamptz[], $6::text[]) w(agent_id, seq, order_id, event, at, once_key) on
    j.agent_id = w.agent_id and j.seq = w.seq and j.event = w.event and j.at = w.at and
    j.order_id is not distinct from w.order_id and j.once_key is not distinct from w.once_key"
  `)
  expect(sent(sql.insertCallbacks)).toMatchInlineSnapshot(`
    "insert into callbacks (agent_id, seq, order_id, kind, follows, created_at, state, due_at,
    attempts, again) select agent_id, seq, order_id, kind, follows, created_at, 'waiting',
    least(created_at, now()), 0, 0 from unnest($1::bigint[], $2::bigint[], $3::uuid[],
    $4::text[], $5::boolean[], $6::timestamptz[]) c(agent_id, seq, order_id, kind, follows,
    created_at)"
  `)
  expect(sent(sql.insertBodies)).toMatchInlineSnapshot(`
    "insert into callback_bodies (agent_id, seq, created_at, body) select * from
    unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[])"
  `)
  expect(sent(sql.insertPayments)).toMatchInlineSnapshot(`
    "insert into payments (agent_id, payment_id, order_id, amount, paid_at, reported_at,
    payer_account_no, payer_account_name, payer_bank_code, state, why, credited_to, evidence,
    received_seq, returned_seq) select * from unnest($1::bigint[], $2::text[], $3::uuid[],
    $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::bigint[])"
  `)
  expect(sent(sql.updatePayments)).toMatchInlineSnapshot(`
    "update payments p set order_id = u.order_id, state = u.state, why = u.why, credited_to =
    u.credited_to, evidence = u.evidence, returned_seq = u.returned_seq from
    unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::bigint[], $9::text[]) u(agent_id, payment_id, order_id, state, why,
    credited_to, evidence, returned_seq, state_read) where p.agent_id = u.agent_id and
    p.payment_id = u.payment_id and p.state = u.state_read"
  `)
  expect(sent(sql.closePayouts)).toMatchInlineSnapshot(`
    "update payouts p set state = 'rejected', ask_at = null from unnest($1::bigint[],
    $2::uuid[], $3::int[]) u(agent_id, order_id, attempt) where p.agent_id = u.agent_id and
    p.order_id = u.order_id and p.attempt < u.attempt and p.ask_at is not null"
  `)
  expect(sent(sql.insertPayouts)).toMatchInlineSnapshot(`
    "insert into payouts (agent_id, order_id, attempt, provider, reference, version, use,
    token, handed_at, state, asks, ask_at) select agent_id, order_id, attempt, provider,
    reference, version, use, token, handed_at, case when ask_at is null and ask_in_ms is null
    then 'rejected' else 'handed' end, 0, coalesce(ask_at, now() + ask_in_ms * interval '1
    millisecond') from unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::text[],
    $6::int[], $7::int[], $8::uuid[], $9::timestamptz[], $10::timestamptz[], $11::bigint[])
    u(agent_id, order_id, attempt, provider, reference, version, use, token, handed_at,
    ask_at, ask_in_ms)"
  `)
  expect(sent(sql.insertItems)).toMatchInlineSnapshot(`
    "insert into open_items (agent_id, item_id, kind, order_id, provider, reference, amount,
    currency, provider_said, order_status, order_provider, opened_at) select * from
    unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[],
    $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[]) on
    conflict (agent_id, item_id) do update set provider_said = case when
    open_items.provider_said not in ('REVERT', excluded.provider_said) then
    excluded.provider_said else open_items.provider_said end, reopened_at = case when
    open_items.provider_said not in ('REVERT', excluded.provider_said) and
    open_items.closed_at is not null then excluded.opened_at else open_items.reopened_at end,
    closed_at = case when open_items.provider_said not in ('REVERT', excluded.provider_said)
    then null else open_items.closed_at end, resolution = case when open_items.provider_said
    not in ('REVERT', excluded.provider_said) then null else open_items.resolution end,
    closed_by = case when open_items.provider_said not in ('REVERT', excluded.provider_said)
    then null else open_items.closed_by end, evidence = case when open_items.provider_said not
    in ('REVERT', excluded.provider_said) then null else open_items.evidence end"
  `)
  expect(sent(sql.contradictPayouts)).toMatchInlineSnapshot(`
    "update payouts p set state = u.state, ask_at = null from unnest($1::bigint[], $2::uuid[],
    $3::text[], $4::text[], $5::timestamptz[], $6::text[]) u(agent_id, order_id, provider,
    reference, opened_at, state) where p.agent_id = u.agent_id and p.provider = u.provider and
    p.reference = u.reference and p.state <> 'returned'"
  `)
  expect(sent(sql.returnItems)).toMatchInlineSnapshot(`
    "update open_items i set provider_said = 'REVERT', reopened_at = case when i.closed_at is
    null then i.reopened_at else u.opened_at end, closed_at = null, resolution = null,
    closed_by = null, evidence = null from unnest($1::bigint[], $2::uuid[], $3::text[],
    $4::text[], $5::timestamptz[], $6::text[]) u(agent_id, order_id, provider, reference,
    opened_at, state) where i.agent_id = u.agent_id and i.order_id = u.order_id and
    i.reference = u.reference and i.provider_said = 'PAID' and exists (select 1 from
    open_items r where r.agent_id = i.agent_id and r.order_id = i.order_id and r.reference =
    i.reference and r.provider_said = 'REVERT')"
  `)
  expect(sent(sql.closeItems)).toMatchInlineSnapshot(`
    "update open_items i set closed_at = u.at, resolution = 'order_paid', evidence = u.evidence
    from unnest($1::bigint[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[])
    u(agent_id, order_id, reference, at, evidence) where i.agent_id = u.agent_id and
    i.order_id = u.order_id and i.reference = u.reference and i.closed_at is null and i.kind
    not in ('failed_after_paid', 'refunded_and_taken_back') and i.provider_said <> 'REVERT'"
  `)
  expect(sent(sql.updateWallets)).toMatchInlineSnapshot(`
    "update wallets w set seq = u.seq, available = u.available, held = u.held, reserve =
    u.reserve, suspense = u.suspense, unexplained = u.unexplained, clearing = u.clearing, fees
    = u.fees, costs = u.costs, adjustments = u.adjustments, differences = u.differences,
    transfers = u.transfers, hash = u.hash from unnest($1::bigint[], $2::bigint[],
    $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[],
    $15::bigint[]) u(agent_id, seq, available, held, reserve, suspense, unexplained, clearing,
    fees, costs, adjustments, differences, transfers, hash, seq_read) where w.agent_id =
    u.agent_id and w.seq = u.seq_read"
  `)
  expect(sent(claimsById)).toMatchInlineSnapshot(`
    "select c.payment_id as "paymentId", c.agent_id as "agentId", c.order_id as "orderId",
    c.amount as "amountMinor", c.currency, c.claimed_at as "claimedAt" from payment_claims c
    where c.payment_id = any($1::text[])"
  `)
  expect(sent(insertClaims)).toMatchInlineSnapshot(`
    "insert into payment_claims (payment_id, agent_id, order_id, amount, currency, claimed_at)
    select * from unnest($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[],
    $6::timestamptz[]) on conflict do nothing returning payment_id"
  `)
})
