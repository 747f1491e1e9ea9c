import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { openPool, type Pool, serviceRole } from '../../src/db/pool.ts'
import { accountNames } from '../../src/ledger/accounts.ts'
import type { JournalEvent } from '../../src/ledger/book.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { statusOf } from '../../src/proof/proof-failure.ts'
import { proveOnward, verify } from '../../src/proof/verify.ts'
import { Teller } from '../../src/teller/teller.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { sample } from '../support/long.ts'
import { writeWholeBook } from '../support/whole-book.ts'
import { provedElsewhere } from './proved-elsewhere.ts'

/** What the table's rows are about that a lie is told of, and what is set to what. */
type ProofFailure = [set: string, where: string]

const own = 'agent_id = 1'
const order = (refId: string) => `${own} and ref_id = '${refId}'`
const idOf = (refId: string) => `(select order_id from orders where ${order(refId)})`
const row = (event: string) =>
  `${own} and seq = (select max(seq) from journal where ${own} and event = '${event}')`
const payment = (id: string) => `${own} and payment_id = 'bank:${id}'`
const item = (refId: string) => `${own} and reference = '${refId}-1'`
const attempt = (reference: string) => `${own} and reference = '${reference}'`
const plusOne = (column: string, where: string): ProofFailure => [
  `${column} = ${column} + 1`,
  where,
]
const later = (column: string, where: string): ProofFailure => [
  `${column} = ${column} + interval '1 second'`,
  where,
]

/**
 * Every column of the books that says something about money, each with lies about it that both the whole
 * proof and the second look of the one in the background find.
 */
const lies: Record<string, Record<string, ProofFailure[]>> = {
  agents: {
    currency: [[`currency = 'VND'`, own]],
  },
  wallets: {
    agent_id: [['agent_id = 3', own]],
    ...Object.fromEntries(
      ['seq', ...accountNames].map((column) => [
        column,
        [plusOne(column, own), plusOne(column, 'agent_id = -1')],
      ]),
    ),
    currency: [[`currency = 'VND'`, own]],
    hash: [[`hash = repeat('a', 64)`, own]],
  },
  orders: {
    agent_id: [['agent_id = 3', order('paid')]],
    order_id: [[`order_id = '${'9'.repeat(32)}'`, order('paid')]],
    kind: [[`kind = 'withdraw'`, order('paid')]],
    ref_id: [
      [`ref_id = 'other'`, order('paid')],
      [`ref_id = 'other'`, order('waiting')],
    ],
    refund_of: [
      [`refund_of = ${idOf('waiting')}`, order('w refund')],
      [`refund_of = ${idOf('w paid')}`, order('w refund')],
      [`refund_of = '${'9'.repeat(32)}'`, order('w refund')],
      // What it refunds could be refunded once more.
      ['refund_of = null', order('w refund')],
      // More than is left of it.
      [`refund_of = ${idOf('paid')}`, order('w paid')],
    ],
    user_id: [
      [`user_id = 'other'`, order('paid')],
      [`user_id = 'other'`, order('w refund')],
    ],
    currency: [
      [`currency = 'VND'`, order('waiting')],
      [`currency = 'VND'`, order('w paid')],
      ['currency = null', order('waiting')],
    ],
    amount: [
      ['amount = amount + 1', order('paid')],
      ['amount = amount + 1', order('waiting')],
      ['amount = amount + 100, fee = fee + 1, paid_amount = paid_amount + 100', order('w paid')],
    ],
    payable: [
      ['payable = amount + 1', order('paid')],
      ['payable = amount + 1', order('instructed')],
    ],
    fee: [plusOne('fee', order('paid')), plusOne('fee', order('w open'))],
    fee_rule: [
      [`fee_rule = '1.6%'`, order('paid')],
      [`fee_rule = '1.6%'`, order('w paid')],
      [`fee_rule = 'none'`, order('waiting')],
      // Which takes as much of what was asked, but not of what was paid.
      [`fee_rule = '1.50', paid_fee = 150`, order('underpaid')],
    ],
    late_money: [
      // A payment of another amount waits for it.
      [`late_money = 'credit'`, order('waiting')],
      ['late_money = null', order('paid')],
      [`late_money = 'review'`, order('w paid')],
    ],
    reserve_rule: [
      [`reserve_rule = '11%/1'`, order('reserved')],
      [`reserve_rule = '10%/2'`, order('reserved')],
      ['reserve_rule = null, release_at = null', order('reserved')],
      // By which it would still be held back.
      [`reserve_rule = '10%/3'`, order('released')],
      [`reserve_rule = '10%/1'`, order('paid')],
      [`reserve_rule = '10%/1'`, order('w paid')],
    ],
    release_at: [
      later('release_at', order('reserved')),
      ['release_at = null', order('reserved')],
      ['release_at = completed_at', order('released')],
    ],
    revert_fee: [
      [`revert_fee = 'return'`, order('w reverted')],
      ['revert_fee = null', order('w paid')],
      [`revert_fee = 'keep'`, order('paid')],
    ],
    account_no: [
      [`account_no = '1111111111'`, order('paid')],
      [`account_no = '1111111111'`, order('w refund')],
    ],
    extra_params: [[`extra_params = '{"shelf": 7.5}'`, order('paid')]],
    status: [
      [`status = 'FAILED'`, order('w paid')],
      [`status = 'WAITING', completed_at = null`, order('paid')],
      [`status = 'PAID', completed_at = created_at`, order('waiting')],
    ],
    version: [plusOne('version', order('waiting')), plusOne('version', order('w reverted'))],
    answer: [
      [`answer = replace(answer, '"amount":100', '"amount":101')`, order('paid')],
      [`answer = replace(answer, '"fee":1.5', '"fee":1')`, order('w open')],
      [`answer = replace(answer, '"balance":', '"balance":1')`, order('w open')],
      [`answer = replace(answer, '"txn_id":"1-', '"txn_id":"2-')`, order('waiting')],
      [`answer = replace(answer, '"999"', '"998"')`, order('instructed')],
      [`answer = replace(answer, '{"encoder":1}', 'null')`, order('instructed')],
      [`answer = ''`, order('waiting')],
    ],
    created_at: [later('created_at', order('waiting')), later('created_at', order('w open'))],
    expires_at: [later('expires_at', order('waiting'))],
    completed_at: [
      later('completed_at', order('paid')),
      later('completed_at', order('w reverted')),
      ['completed_at = created_at', order('waiting')],
    ],
    paid_amount: [
      plusOne('paid_amount', order('paid')),
      plusOne('paid_amount', order('w reverted')),
      ['paid_amount = 1, paid_fee = 0', order('failed')],
    ],
    paid_fee: [plusOne('paid_fee', order('paid again')), plusOne('paid_fee', order('w paid'))],
    provider: [[`provider = 'bank'`, order('w elsewhere')]],
    provider_ref: [[`provider_ref = 'w elsewhere-1'`, order('w elsewhere')]],
    handed_over_at: [
      later('handed_over_at', order('w paid')),
      ['handed_over_at = null', order('w elsewhere')],
      ['handed_over_at = created_at', order('w open')],
    ],
    instructions: [[`instructions = replace(instructions, '"999"', '"998"')`, order('instructed')]],
  },
  journal: {
    hash: [[`hash = repeat('a', 64)`, `${own} and seq = 2`]],
    agent_id: [['agent_id = 3', row('withdraw_failed')]],
    seq: [['seq = seq + 1000', row('withdraw_held')]],
    order_id: [
      [`order_id = ${idOf('failed')}`, row('deposit_void')],
      ['order_id = null', row('deposit_void')],
    ],
    event: [
      [`event = 'deposit_failed'`, row('deposit_void')],
      [`event = 'withdraw_cancelled'`, row('withdraw_failed')],
    ],
    currency: [
      [`currency = 'VND'`, row('withdraw_held')],
      [`currency = 'VND'`, `${own} and once_key = 'adjustment:funds'`],
      ['currency = null', row('deposit_void')],
    ],
    at: [
      ...['withdraw_held', 'deposit_paid', 'withdraw_reverted'].map((event) =>
        later('at', row(event)),
      ),
      [`at = at - interval '2 days'`, row('reserve_released')],
      // Rows of no order: each follows the one before it, and says when its payment came.
      [`at = at - interval '2 days'`, row('payment_received')],
      [`at = at - interval '2 days'`, `${own} and seq = 2`],
      [`at = at + interval '2 days'`, row('adjustment')],
    ],
    ...Object.fromEntries(
      accountNames.flatMap((account) => [
        [`${account}_change`, [plusOne(`${account}_change`, row('deposit_paid'))]],
        [account, [plusOne(account, row('withdraw_cancelled'))]],
      ]),
    ),
    clearing_at: [
      [`clearing_at = 'other'`, `${own} and once_key = 'payment:bank:paid'`],
      [`clearing_at = 'bank'`, row('deposit_paid')],
      ['clearing_at = null', row('withdraw_reverted')],
      [`clearing_at = 'bank'`, row('withdraw_failed')],
      [`clearing_at = 'other'`, `agent_id = -1 and seq = 1`],
    ],
    clearing_there: [
      plusOne('clearing_there', `${own} and once_key = 'payment:bank:paid'`),
      plusOne('clearing_there', row('payment_received')),
      ['clearing_there = 0', row('withdraw_failed')],
      plusOne('clearing_there', 'agent_id = -1 and seq = 2'),
    ],
    once_key: [
      [`once_key = 'payment:bank:other'`, row('deposit_paid')],
      [`once_key = 'payment:bank:other'`, `${own} and once_key = 'payment:bank:kept'`],
      [`once_key = 'adjustment:own'`, `${own} and once_key = 'payment:bank:kept'`],
      [`once_key = 'payment-taken-back:bank:kept'`, `${own} and once_key like '%back:bank:lost'`],
      [`once_key = 'payment:bank:wrong'`, `${own} and once_key = 'adjustment:funds'`],
      [`once_key = 'funds'`, `${own} and once_key = 'adjustment:funds'`],
      [`once_key = 'adjustment:more'`, row('deposit_void')],
      [`once_key = once_key || '0'`, row('reserve_released')],
    ],
  },
  callbacks: {
    agent_id: [['agent_id = 3', row('deposit_paid')]],
    seq: [['seq = seq + 1000', row('deposit_paid')]],
    order_id: [[`order_id = ${idOf('failed')}`, row('deposit_void')]],
    kind: [[`kind = 'withdraw'`, row('deposit_paid')]],
    follows: [['follows = not follows', row('deposit_paid')]],
    created_at: [later('created_at', row('withdraw_reverted'))],
    body: [[`body = '{}'`, row('deposit_paid')]],
  },
  callback_bodies: {
    agent_id: [['agent_id = 3', row('deposit_paid')]],
    seq: [['seq = seq + 1000', row('deposit_paid')]],
    created_at: [later('created_at', row('deposit_paid'))],
    body: [
      ['deposit_paid', '"refId":"', '"refId":"x'],
      ['deposit_paid', '"transactionId":"1-', '"transactionId":"2-'],
      ['deposit_paid', '"userId":"', '"userId":"x'],
      ['deposit_paid', '"amount":100', '"amount":1e2'],
      ['deposit_failed', '"amount":100', '"amount":101'],
      ['deposit_paid', '"fee":1.5', '"fee":1.50'],
      ['withdraw_reverted', '"fee":1.5', '"fee":0'],
      ['deposit_paid', '"PAID"', '"FAILED"'],
      ['deposit_paid', '7.50', '7.5'],
      ['deposit_paid', ':07"', ':08"'],
      ['deposit_paid', '"successAt":"2026-', '"successAt":"2025-'],
      ['deposit_paid', '"balance":', '"balance":1'],
      ['deposit_paid', '"flag_incorrect_payee":false', '"flag_incorrect_payee":true'],
      ['deposit_paid', '"1234567890"', '"1234567891"'],
      ['deposit_paid', '"account_name":"Somchai', '"account_name":"Somchay'],
      ['deposit_paid', '"bank_code":"SCB"', '"bank_code":"KTB"'],
      ['deposit_paid', '"payee":', '"payer":'],
      ['deposit_void', '"status":', '"payee":{},"status":'],
      ['deposit_void', '"status":', '"bonus":1,"status":'],
      ['deposit_void', '"status":', '"status":"PAID","status":'],
    ].map(
      ([event = '', from, to]): ProofFailure => [
        `body = replace(body, '${from}', '${to}')`,
        row(event),
      ],
    ),
  },
  payments: {
    agent_id: [['agent_id = 3', payment('paid')]],
    payment_id: [[`payment_id = 'bank:other'`, payment('paid')]],
    order_id: [
      [`order_id = ${idOf('waiting')}`, payment('paid')],
      [`order_id = ${idOf('waiting')}`, payment('gone')],
    ],
    amount: ['paid', 'gone', 'late', 'kept', 'lost'].map((id) => plusOne('amount', payment(id))),
    paid_at: [later('paid_at', payment('kept'))],
    payer_account_no: [[`payer_account_no = '1'`, payment('paid')]],
    payer_account_name: [[`payer_account_name = null`, payment('paid')]],
    payer_bank_code: [[`payer_bank_code = 'KTB'`, payment('kept')]],
    state: [
      [`state = 'waiting', why = 'late', credited_to = null`, payment('paid')],
      [`state = 'taken_back'`, payment('paid')],
      [`state = 'taken_back'`, payment('kept')],
      [`state = 'credited'`, payment('gone')],
      [`state = 'credited'`, payment('lost')],
      [`state = 'credited', why = null, credited_to = 'wallet'`, payment('wrong')],
      [`state = 'credited', why = null, credited_to = 'order'`, payment('wrong')],
      [`state = 'returned', evidence = 'x', credited_to = null`, payment('kept')],
      [`state = 'taken_back', credited_to = 'wallet'`, payment('given back')],
    ],
    why: [[`why = 'late'`, payment('paid')]],
    credited_to: [
      [`credited_to = 'wallet'`, payment('paid')],
      [`credited_to = 'order', order_id = ${idOf('waiting')}`, payment('kept')],
      ['credited_to = null', payment('paid')],
    ],
    evidence: [['evidence = null', payment('given back')]],
    received_seq: [
      ...['paid', 'late', 'kept', 'wrong', 'given back'].map((id) =>
        plusOne('received_seq', payment(id)),
      ),
      ['received_seq = 0', payment('wrong')],
    ],
    returned_seq: [
      plusOne('returned_seq', payment('given back')),
      ['returned_seq = null', payment('given back')],
      ['returned_seq = 0', payment('wrong')],
    ],
  },
  clearings: {
    agent_id: [['agent_id = 2', `${own} and provider = 'bank'`]],
    provider: [[`provider = 'other'`, `${own} and provider = 'bank'`]],
    seq: [plusOne('seq', `${own} and provider = 'bank'`)],
    balance: [
      plusOne('balance', `${own} and provider = 'bank'`),
      plusOne('balance', `agent_id = -1 and provider = 'bank'`),
    ],
  },
  payouts: {
    agent_id: [['agent_id = 3', attempt('w paid-1')]],
    order_id: [[`order_id = ${idOf('w open')}`, attempt('w paid-1')]],
    attempt: [['attempt = 3', attempt('w elsewhere-1')]],
    provider: [[`provider = 'x'`, attempt('w elsewhere-2')]],
    reference: [[`reference = 'x'`, attempt('w paid-1')]],
    state: [
      [`state = 'paid', ask_at = null`, attempt('w elsewhere-2')],
      [`state = 'rejected', ask_at = null`, attempt('w elsewhere-2')],
      [`state = 'rejected'`, attempt('w paid-1')],
      [`state = 'returned'`, attempt('w paid-1')],
      [`state = 'rejected'`, attempt('w reverted-1')],
      [`state = 'handed'`, attempt('w paid-1')],
      [`state = 'handed', ask_at = handed_at`, attempt('w elsewhere-1')],
    ],
    handed_at: [later('handed_at', attempt('w paid-1'))],
    ask_at: [['ask_at = handed_at', attempt('w paid-1')]],
  },
  open_items: {
    agent_id: [['agent_id = 3', item('w item')]],
    item_id: [[`item_id = 'x'`, item('w item')]],
    kind: [[`kind = 'paid_twice'`, item('w item')]],
    order_id: [[`order_id = ${idOf('w open')}`, item('w item')]],
    provider: [[`provider = 'other'`, item('w item')]],
    reference: [[`reference = 'w paid-1'`, item('w item')]],
    amount: [plusOne('amount', item('w item')), plusOne('amount', item('w looked'))],
    currency: [[`currency = 'VND'`, item('w item')]],
    provider_said: [
      [`provider_said = 'REVERT'`, item('w item')],
      [`provider_said = 'FAILED'`, item('w looked')],
    ],
    booked_as: [
      [`booked_as = 'write_off'`, item('w looked')],
      [`booked_as = 'charge_agent'`, item('w looked')],
    ],
    closed_at: [
      later('closed_at', item('w after all')),
      [
        `closed_at = opened_at, resolution = 'looked_into', closed_by = 'x@y.z', evidence = 'x'`,
        item('w item'),
      ],
    ],
    resolution: [
      [`resolution = 'order_paid', closed_by = null`, item('w looked')],
      [`resolution = 'looked_into', closed_by = 'x@y.z'`, item('w after all')],
    ],
    closed_by: [[`closed_by = 'x@y.z'`, item('w looked')]],
  },
  payout_references: {
    reference: [[`reference = 'x'`, attempt('w paid-1')]],
    agent_id: [['agent_id = 2', attempt('w paid-1')]],
    order_id: [[`order_id = ${idOf('w open')}`, attempt('w paid-1')]],
    attempt: [['attempt = 2', attempt('w paid-1')]],
  },
  payment_claims: {
    payment_id: [[`payment_id = 'bank:other'`, payment('paid')]],
    agent_id: [
      ['agent_id = 2', payment('paid')],
      ['agent_id = 0', payment('wrong')],
    ],
    order_id: [[`order_id = '${'9'.repeat(32)}'`, payment('paid')]],
    amount: [plusOne('amount', payment('paid')), plusOne('amount', payment('given back'))],
    currency: [[`currency = 'VND'`, payment('kept')]],
  },
  unmatched_payments: {
    payment_id: [[`payment_id = 'bank:lost'`, `payment_id = 'bank:kept'`]],
    amount: ['kept', 'nobody waiting', 'nobody returned'].map((id) =>
      plusOne('amount', `payment_id = 'bank:${id}'`),
    ),
    currency: [[`currency = 'VND'`, `payment_id = 'bank:kept'`]],
    paid_at: [later('paid_at', `payment_id = 'bank:kept'`)],
    payer_account_no: [[`payer_account_no = '1'`, `payment_id = 'bank:kept'`]],
    payer_account_name: [['payer_account_name = null', `payment_id = 'bank:kept'`]],
    payer_bank_code: [[`payer_bank_code = 'KTB'`, `payment_id = 'bank:kept'`]],
    state: [
      [`state = 'waiting', assigned_to = null`, `payment_id = 'bank:kept'`],
      [`state = 'dismissed'`, `payment_id = 'bank:nobody returned'`],
      [`state = 'returned', decided_seq = 1`, `payment_id = 'bank:nobody waiting'`],
    ],
    assigned_to: [['assigned_to = 2', `payment_id = 'bank:kept'`]],
    received_seq: ['kept', 'nobody waiting', 'nobody returned'].map((id) =>
      plusOne('received_seq', `payment_id = 'bank:${id}'`),
    ),
    decided_seq: [
      plusOne('decided_seq', `payment_id = 'bank:kept'`),
      plusOne('decided_seq', `payment_id = 'bank:nobody dismissed'`),
      ['decided_seq = null', `payment_id = 'bank:nobody returned'`],
    ],
  },
}

/** Columns and whole tables that say nothing about money, and why. */
const noMoney: Record<string, string | Record<string, string>> = {
  ...provedElsewhere,
  agents: {
    ...says('who it is and how it is reached', [
      'agent_id',
      'app_id',
      'name',
      'status',
      'support',
      'return_url',
    ]),
    ...says('when and where its balance is paid out, by withdrawals', [
      'settle',
      'settle_keep',
      'settle_to',
    ]),
    ...says('where callbacks go', ['deposit_callback_url', 'withdraw_callback_url']),
    ...says('terms of orders to come: each order keeps those that it was made with', [
      'deposit_fee',
      'withdraw_fee',
      'reserve',
      'revert_fee',
      'late_money',
      'method',
      'expires_in_s',
      'min_deposit',
      'max_deposit',
      'min_withdraw',
      'max_withdraw',
    ]),
    ...says('what may knock at its door', [
      'rate_limit',
      'allowed_ips',
      'withdraw_ips',
      'frame_origins',
    ]),
    ...says('when its terms were changed', ['created_at', 'updated_at']),
  },
  agent_keys: 'its secrets',
  agent_brands: 'how its pages look',
  journal: { reason: 'a person’s words' },
  callbacks: says('how far its delivery is', [
    'state',
    'attempts',
    'due_at',
    'again',
    'delivered_at',
  ]),
  payouts: {
    token: 'whose hand-over it was, for a commit that got lost',
    turn: 'who may write what is known of it next',
    ...says('how often it was asked about, and what was said', ['asks', 'said', 'evidence']),
    ...says('by which words the provider is called about it', [
      'version',
      'use',
      'their_id',
      'unsent',
    ]),
  },
  unmatched_payments: {
    ...says('what somebody said of it', ['reference', 'evidence', 'why', 'contradicts']),
    ...says('when it came and was decided on', ['reported_at', 'decided_at']),
  },
  open_items: {
    ...says('what the order was when it was first told', ['order_status', 'order_provider']),
    ...says('when it was told, and what was found out', ['opened_at', 'reopened_at', 'evidence']),
  },
  payment_notes: 'who looks into a payment, and what was noted',
  notices: 'a provider’s own words, which only that provider’s adapter can read',
  notice_events: 'the same, as they were understood; payment-claims.test.ts tells lies about it',
  proofs: 'how far the proof itself has come',
  attempt_prunings: 'how far old attempts have been looked at',
  limit_buckets: 'how much may be asked for at the moment',
  api_requests: 'what agents asked lately; nothing is decided by it',
  ...says('summaries, from which nothing is decided: insights.test.ts lays them beside the books', [
    'insight_folds',
    'insight_orders',
    'insight_money',
    'insight_callbacks',
  ]),
  callback_lanes: 'how callbacks are delivered',
  callback_claims: 'who is delivering a callback',
  callback_attempts: 'what became of each attempt at delivering',
  providers: 'who may be called',
  provider_routes: 'which orders go where from now on',
  users: 'who signs in',
  sessions: 'who is signed in',
  invitations: 'who may sign in',
  bank_accounts: 'where payers pay to from now on',
  bank_files: 'what banks sent, as it came',
  bank_statements: 'what banks said of their days: reconciliation lays it beside the books',
  ...says('what holds files back after a restore: after-restore.test.ts is about it', [
    'restores',
    'payout_lock_releases',
    'restore_holds',
    'restore_differences',
    'restore_findings',
    'restore_releases',
    'witness_marks',
    'event_epochs',
  ]),
  ...says('how files come and go: sftp.test.ts is about it; what they say is proved elsewhere', [
    'payout_file_puts',
    'payout_file_put_steps',
    'bank_fetches',
    'bank_connections',
  ]),
  payout_file_schedules: 'which drafts nobody asked for; the files are proved',
  stops: 'what is not paid out at the moment',
  ...says('how payment companies are spoken to, and what was tried; it moves nothing', [
    'connectors',
    'connector_versions',
    'connector_secrets',
    'connector_runs',
    'connector_uses',
    'connector_use_secrets',
    'connector_deposits',
    'connector_deposit_ids',
    'connector_token_days',
    'connector_figures',
    'deposit_codes',
    'payout_ids',
    'line_sources',
  ]),
  agent_secrets: 'who may knock, and for what',
  secret_addresses: 'where secrets were used from',
  ...says('what orders are measured against, and what that said; it moves nothing', [
    'limit_rules',
    'limit_entries',
    'limit_checks',
  ]),
  deployment: 'the mode, which is written once',
  bank_day_signoffs: 'who looked at a day, and at what; reconciliation names what changed since',
  ...says('what people know and how they look; it moves nothing', [
    'record_tags',
    'record_notes',
    'shared_views',
  ]),
  bank_slips: 'pictures that people believed; what was recorded with them is proved',
  hand_payments:
    'whose word a report by hand is; that each has one is proved, and prove-movements.test.ts lies about it',
  bank_file_confirmations:
    'who believed a file that another person brought; rows are never changed',
  audit_log: 'what people did; nothing is counted by it, and chains.test.ts lies about it',
  audit_lanes: 'where the chains of the audit log end; chains.test.ts lies about it',
  ...says('what two people decided on, bound by the database’s keys; nothing is counted by it', [
    'user_credentials',
    'proposals',
    'proposal_decisions',
    'proposal_effects',
    'proposal_ends',
    'proposal_answers',
    'proposal_runs',
    'approval_rules',
    'alarms',
    'alarm_acknowledgements',
  ]),
  ...says('how people sign in', [
    'passkeys',
    'passkey_challenges',
    'passkey_proofs',
    'oidc_sign_ins',
  ]),
  ...says('what people are told of and where; it moves nothing', [
    'alerts',
    'alert_deliveries',
    'alert_channels',
    'alert_choices',
    'alert_watch',
    'alert_rules',
    'alert_rule_states',
    'alert_times',
  ]),
  ...says('reports that were sent; what they say is read from the books', [
    'report_schedules',
    'report_runs',
    'report_files',
  ]),
  schema_migrations: 'how the tables came about',
}

/**
 * Facts that were told once and stand nowhere else, so that nothing can contradict a lie about them. What
 * protects them is that the service cannot change them: that is looked at instead.
 */
const toldOnce: Record<string, string[]> = {
  orders: ['account_name', 'bank_code'],
  payments: ['reported_at'],
  payment_claims: ['claimed_at'],
  expected_deposits: ['deduction'],
}

function says(why: string, columns: string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column, why]))
}

const books = Object.keys(lies)
/** Of the agent whose book the lies are about. */
let appId: string
let database: TestDatabase
let owner: Pool
let pool: Pool

beforeAll(async () => {
  database = await testDatabase()
  const options = { url: database.url, onError: () => {} }
  owner = openPool({ ...options, url: database.ownerUrl, max: 1, name: 'owner', as: 'owner' })
  pool = openPool({ ...options, max: 2, name: 'test', pipeline: true })
  const teller = new Teller({
    pool,
    localTime: localTimeIn('Asia/Bangkok'),
    writers: 1,
    maxBatch: 500,
    maxQueue: 10_000,
    patienceMs: 10_000,
  })
  const terms = { ...defaultTerms, name: 'Proved', currency: 'THB' } as const
  const made = await createAgent(owner, [Buffer.alloc(32, 7)], terms, new Date())
  appId = made.agent.appId
  await createAgent(owner, [Buffer.alloc(32, 7)], terms, new Date())
  await writeWholeBook(owner, teller, 1n)
  const proofs = await verify(pool, {})
  expect(proofs.map(({ appId, finding }) => [appId.replace(/^app_.*/, 'agent'), finding])).toEqual([
    ['agent', null],
    ['agent', null],
    ['house THB', null],
  ])
  for (let round = 0; round < 4; round++) await proveOnward(pool, new Date())
  // The second look is at the first agent, then at the house.
  await owner.query(`update proofs set again_at = case agent_id when 1 then '2026-01-01'::timestamptz
    when -1 then '2026-01-02' else 'infinity' end`)
  await freeToLie()
  await owner.query('create schema backup')
  for (const table of [...books, 'proofs']) {
    await owner.query(`create table backup.${table} as table sluice.${table}`)
  }
})
afterAll(async () => {
  // Every lie was taken back: none was found by what an earlier one had left behind.
  expect((await verify(pool, {})).flatMap(({ finding }) => finding ?? [])).toEqual([])
  await pool.end()
  await owner.end()
  await database.close()
})

it('every column says a lie that is found, or why it says nothing about money', async () => {
  const { rows } = await owner.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'sluice'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname, a.attnum`,
  )
  expect(rows.length).toBeGreaterThan(150)
  const isCovered = ({ table, column }: (typeof rows)[number]) => {
    const why = noMoney[table]
    return (
      typeof why === 'string' ||
      [lies[table], why].some((of) => of && Object.hasOwn(of, column)) ||
      toldOnce[table]?.includes(column)
    )
  }
  const messages = rows
    .filter((each) => !isCovered(each))
    .map(
      ({ table, column }) =>
        `sluice.${table}.${column}: name in this file a lie about it, and have "sluice verify" find it (ledger/prove*.ts); or, where it says nothing about money, say why in noMoney`,
    )
  expect(messages).toEqual([])
})

it('a lie that is told in another file is told there', async () => {
  const missing: string[] = []
  for (const [table, columns] of Object.entries(provedElsewhere)) {
    for (const [column, file] of Object.entries(columns)) {
      if (!file.endsWith('.test.ts')) continue
      const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8')
      // `['table', 'column = …'` or `update table set column = …`; of accounts, `${account} = …`.
      const name = (accountNames as readonly string[]).includes(column)
        ? `(${column}|\\$\\{account\\})`
        : column
      const set = `('${table}',\\s*['\`]|update ${table}( \\w)? set )((?!where)[^\\];])*?`
      const lie = new RegExp(`${set}(?<!\\w)${name}(?!\\w)[^=\\]\`]*?=(?!=)`)
      if (!lie.test(text)) missing.push(`${table}.${column} in ${file}`)
    }
  }
  expect(missing).toEqual([])
})

it('what stands nowhere else cannot be changed by the service', async () => {
  const columns = Object.entries(toldOnce).flatMap(([table, of]) => of.map((each) => [table, each]))
  for (const [table, column] of columns) {
    const { rows } = await owner.query(
      `select has_column_privilege($1, $2::regclass, $3, 'update') as may`,
      [serviceRole, `sluice.${table}`, column],
    )
    expect([table, column, rows[0]?.may]).toEqual([table, column, false])
  }
})

/** One lie about each column; in a long run all of them. */
const told = Object.entries(lies).flatMap(([table, columns]) =>
  Object.entries(columns).flatMap(([column, each]) =>
    sample(each, 1).map(([set, where]): [string, string, string] => [
      table,
      column,
      `set ${set} where ${where}`,
    ]),
  ),
)

it.each(told)('a lie about %s.%s is found: %s', async (table, _column, lie) => {
  await expectFound(table, `update ${table} ${lie}`)
})

describe('rows that are missing', () => {
  const events = [
    'withdraw_held',
    'withdraw_paid',
    'withdraw_failed',
    'withdraw_cancelled',
    'withdraw_reverted',
    'deposit_paid',
    'deposit_failed',
    'deposit_expired',
    'deposit_void',
    'deposit_taken_back',
    'adjustment',
    'cost_charged',
    'reserve_released',
    'payment_received',
    'payment_returned',
    'swept',
  ]
  it.each(events)('a journal row (%s) is found to be', async (event) => {
    await expectFound('journal', `delete from journal where ${row(event)}`)
  })

  it.each([
    'payment_received',
    'payment_returned',
    'payment_dismissed',
    'payment_assigned',
    'swept',
    'written_off',
  ])('a row of the house (%s) is found to be', async (event) => {
    const which = `(agent_id, seq) = (select agent_id, seq from journal
      where agent_id < 0 and event = '${event}' order by agent_id, seq limit 1)`
    await expectFound('journal', `delete from journal where ${which}`)
  })

  it.each(events.filter((event) => statusOf[event as JournalEvent] !== undefined))(
    'a callback (%s) is found to be',
    async (event) => {
      await expectFound('callbacks', `delete from callbacks where ${row(event)}`)
    },
  )

  it.each([
    ['wallets', own],
    ['orders', order('paid')],
    ['orders', order('w open')],
    ['callback_bodies', row('deposit_paid')],
    ...['paid', 'gone', 'late', 'kept', 'lost'].map((id) => ['payments', payment(id)]),
    ...['paid', 'wrong', 'kept'].map((id) => ['payment_claims', payment(id)]),
    ...['w paid-1', 'w elsewhere-1', 'w elsewhere-2'].map((each) => ['payouts', attempt(each)]),
    ['open_items', item('w item')],
  ])('one of %s is found to be: %s', async (table, where) => {
    await expectFound(table, `delete from ${table} where ${where}`)
  })
})

describe('rows that are there twice', () => {
  it.each([
    ['orders', `{"order_id": "${'8'.repeat(32)}", "ref_id": "copy"}`, order('paid')],
    ['orders', `{"order_id": "${'8'.repeat(32)}", "ref_id": "copy"}`, order('w open')],
    ['journal', '{"seq": 9999, "once_key": null}', row('deposit_paid')],
    ['callbacks', '{"seq": 9999}', row('deposit_paid')],
    ['payments', '{"payment_id": "bank:copy"}', payment('paid')],
    ['payments', '{"payment_id": "bank:copy"}', payment('kept')],
    ['payments', '{"payment_id": "bank:copy"}', payment('gone')],
    ['payouts', '{"attempt": 2, "reference": "copy"}', attempt('w paid-1')],
    ['payouts', `{"order_id": "${'8'.repeat(32)}"}`, attempt('w paid-1')],
  ])('a copy in %s is found: %s', async (table, changes, where) => {
    await expectFound(
      table,
      `insert into ${table}
      select (json_populate_record(t, '${changes}')).* from ${table} t where ${where}`,
    )
  })
})

/** The lie is told, found by both proofs and said in words, and the book is put back. */
async function expectFound(liedIn: string, sql: string): Promise<void> {
  const { rowCount } = await owner.query(sql)
  expect(rowCount).toBe(1)
  try {
    // What the row says is found, though its hash is right.
    if (/^\w+ (from )?journal/.test(sql) && !sql.includes('set hash')) {
      await chainAnew((text, values) => owner.query(text, values))
    }
    const found = async (options: { appId?: string }) =>
      (await verify(pool, options)).flatMap(({ finding }) => finding ?? [])
    // The proof of all agents begins with the first one, of whom most lies are.
    const whole = await found({ appId })
    if (whole.length === 0) whole.push(...(await found({})))
    const again: string[] = []
    for (let round = 0; round < 2 && again.length === 0; round++) {
      again.push(...(await proveOnward(pool, new Date())).findings)
    }
    expect({ whole, again }).not.toMatchObject({ whole: [] })
    expect({ whole, again }).not.toMatchObject({ again: [] })
    for (const finding of [...whole, ...again]) expect(finding).not.toMatch(/undefined|\[object/)
  } finally {
    // Truncating would make every session plan its statements anew.
    // The ends of the chains are at the wallets.
    const mend = [...new Set([liedIn, 'wallets', 'proofs'])].map(
      (
        table,
      ) => `delete from ${table} t where t::text not in (select b::text from backup.${table} b);
        insert into ${table} select b.* from backup.${table} b
          where b::text not in (select t::text from ${table} t);`,
    )
    await owner.query(mend.join(''))
  }
}

/** Takes away every constraint but the primary keys, and every unique index, so that lies can be written down. */
async function freeToLie(): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('alter table %s drop constraint if exists %I cascade', conrelid::regclass, conname) as statement
     from pg_constraint where connamespace = 'sluice'::regnamespace and contype in ('c', 'f', 'u')
       and coninhcount = 0
     union all
     select format('drop index %s', indexrelid::regclass) from pg_index
     where indrelid::regclass::text = any($1) and indisunique and not indisprimary
       and indexrelid not in (select conindid from pg_constraint)`,
    [books],
  )
  for (const { statement } of rows) await owner.query(statement)
}
