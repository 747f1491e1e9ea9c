import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serviceRole } from '../../src/db/pool.ts'
import { accountNames } from '../../src/ledger/accounts.ts'
import { allHouseBooks } from '../../src/ledger/house.ts'
import { currencies } from '../../src/lib/money.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import {
  connectorCases,
  connectorKeys,
  connectorRows,
  connectorsDoubled,
  connectorsFixed,
  connectorsPresent,
} from './connector-cases.ts'
import {
  goodPayoutFiles,
  payoutFileCases,
  payoutFileKeys,
  payoutFilesFixed,
  payoutFilesThere,
} from './payout-file-cases.ts'

type Fields = Record<string, unknown>

const at = '2026-01-01T00:00:00Z'
const bound = '9007199254740991'
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const takeOutOf = (n: number) => ({
  ...{ action: 'take_out_payouts', subject_id: uuid(n).replaceAll('-', '') },
})

const noMoney = Object.fromEntries(accountNames.map((name) => [name, 0]))

const digest = (n: number) => `\\x${String(n).padStart(64, '0')}`

/** A good row of each table, beside those that are there; every case spoils one of these. */
const good: Record<string, Fields> = {
  ...goodPayoutFiles,
  ...connectorRows,
  agents: {
    agent_id: 2,
    app_id: 'app_two',
    name: 'Two',
    currency: 'THB',
    status: 'active',
    deposit_fee: '0%',
    withdraw_fee: '0%',
    revert_fee: 'return',
    late_money: 'review',
    method: 'link',
    expires_in_s: 900,
    min_deposit: 1,
    max_deposit: 1000,
    min_withdraw: 1,
    max_withdraw: 1000,
    rate_limit: 0,
    allowed_ips: [],
    frame_origins: [],
    created_at: at,
    updated_at: at,
  },
  agent_keys: { agent_id: 1, slot: 2, sealed_secret: '\\x00', created_at: at },
  agent_brands: {
    agent_id: 3,
    colour: '#0a7d4f',
    logo: '\\x00',
    logo_type: 'image/png',
    updated_at: at,
  },
  // The agent is there and has no wallet yet.
  wallets: {
    agent_id: 3,
    currency: 'THB',
    seq: 0,
    ...noMoney,
  },
  clearings: { agent_id: 1, provider: 'bank', seq: 1, balance: 0 },
  orders: {
    agent_id: 1,
    order_id: uuid(2),
    kind: 'deposit',
    ref_id: 'ref-2',
    user_id: 'user',
    currency: 'THB',
    amount: 100,
    fee: 0,
    fee_rule: '0%',
    late_money: 'review',
    account_name: 'Somchai',
    account_no: '1234567890',
    bank_code: 'SCB',
    status: 'WAITING',
    version: 1,
    answer: '{}',
    created_at: at,
    expires_at: at,
  },
  journal: {
    agent_id: 1,
    seq: 3,
    order_id: uuid(1),
    event: 'deposit_paid',
    at,
    currency: 'THB',
    ...Object.fromEntries(accountNames.map((name) => [`${name}_change`, 0])),
    available_change: 100,
    clearing_change: -100,
    ...noMoney,
    available: 100,
    clearing: -100,
    clearing_at: 'bank',
    clearing_there: -100,
    once_key: 'payment:2',
    hash: '0'.repeat(64),
  },
  callbacks: {
    agent_id: 1,
    seq: 1,
    order_id: uuid(1),
    kind: 'deposit',
    follows: false,
    body: '{}',
    state: 'waiting',
    created_at: at,
    due_at: at,
    attempts: 0,
    again: 0,
  },
  attempt_prunings: { until: at, agent_id: 1, seq: 1, attempt_id: uuid(1), is_done: false },
  callback_bodies: { agent_id: 1, seq: 1, created_at: at, body: '{}' },
  callback_lanes: { agent_id: 3, paused: false, width: 4, failed_seqs: '{}', turn: 0 },
  callback_claims: { agent_id: 1, turn: 1, sender: uuid(1), seqs: '{1}', lease_until: at },
  callback_attempts: {
    agent_id: 1,
    seq: 2,
    attempt_id: uuid(9),
    started_at: at,
    duration_ms: 1,
    url: 'https://shop.example',
  },
  payments: {
    agent_id: 1,
    payment_id: 'bank:2',
    order_id: uuid(1),
    amount: 100,
    paid_at: at,
    reported_at: at,
    state: 'waiting',
    why: 'late',
    received_seq: 1,
  },
  deployment: { only_one: true, mode: 'sandbox', taken_at: at },
  providers: { name: 'bank', state: 'on', updated_at: at },
  provider_routes: {
    provider: 'bank',
    route: 'small',
    direction: 'deposit',
    currency: 'THB',
    min_amount: 1,
    max_amount: 100,
    preference: 100,
    weight: 1,
  },
  bank_accounts: {
    name: 'kbank',
    currency: 'THB',
    bank_code: 'KBANK',
    account_no: '1234567890',
    former_numbers: '',
    account_name: 'Us',
    qr_kind: 'none',
    match: 'code',
    surplus_steps: 99,
    hold_s: 7200,
    feed: 'none',
    zone: 'UTC',
    own_accounts: '',
    created_at: at,
    created_by: 'one@sluice.example',
    version: 1,
  },
  expected_deposits: {
    account: 'scb',
    code: 'SX0000000000A',
    agent_id: 1,
    order_id: uuid(1),
    user_id: 'user',
    amount: 100,
    payable: 102,
    by_amount: true,
    payer_account_no: '123',
    created_at: at,
    expires_at: at,
    held_until: at,
    state: 'open',
  },
  bank_files: {
    account: 'scb',
    file_id: uuid(2),
    sha256: 'b'.repeat(64),
    name: 'day.xml',
    size: 1,
    bytes: '\\x00',
    via: 'folder',
    brought_by: 'folder',
    received_at: at,
  },
  bank_statements: {
    account: 'scb',
    statement_id: uuid(2),
    file_id: uuid(1),
    source: 'statement',
    entries: 0,
    booked: 0,
    read_at: at,
  },
  bank_movements: {
    account: 'scb',
    movement_id: uuid(2),
    amount: 100,
    currency: 'THB',
    booked_on: '2026-01-01',
    text: '',
    is_return: false,
    state: 'new',
    reported_at: at,
    act_at: at,
    tries: 0,
  },
  bank_reports: {
    account: 'scb',
    source: 'statement',
    report_key: 'two',
    movement_id: uuid(1),
    file_id: uuid(1),
    amount: 100,
    booked_on: '2026-01-01',
    ids: '{}',
    text: '',
    is_trusted: true,
    reported_at: at,
  },
  bank_file_confirmations: {
    account: 'scb',
    file_id: uuid(3),
    brought_by: 'folder',
    confirmed_by: 'one@sluice.example',
    confirmed_at: at,
    movements: 1,
    amount: 100,
  },
  bank_day_signoffs: {
    account: 'scb',
    day: '2026-01-01',
    signoff_no: 1,
    signed_by: 'one@sluice.example',
    signed_at: at,
    state: 'green',
    shown: 'a'.repeat(64),
    movements: 'b'.repeat(64),
  },
  payouts: {
    agent_id: 1,
    order_id: uuid(1),
    attempt: 2,
    provider: 'bank',
    reference: 'b-2',
    token: uuid(2),
    state: 'rejected',
    handed_at: at,
    asks: 0,
  },
  notice_events: { agent_id: 0, provider: 'bank', event_id: 'e-1', received_at: at, event: '{}' },
  notices: { notice_id: uuid(1), provider: 'bank', received_at: at, body: '\\x00' },
  payout_references: { reference: 'SX-2', agent_id: 1, order_id: uuid(1), attempt: 2 },
  payment_claims: {
    payment_id: 'bank:7',
    agent_id: 1,
    order_id: uuid(1),
    amount: 100,
    currency: 'THB',
    claimed_at: at,
  },
  open_items: {
    agent_id: 1,
    item_id: 'paid_twice-b-2',
    kind: 'paid_twice',
    order_id: uuid(1),
    provider: 'bank',
    reference: 'b-2',
    amount: 100,
    currency: 'THB',
    provider_said: 'PAID',
    order_status: 'WAITING',
    opened_at: at,
  },
  unmatched_payments: {
    payment_id: 'bank:7',
    reference: '?',
    amount: 100,
    currency: 'THB',
    paid_at: at,
    reported_at: at,
    state: 'waiting',
    received_seq: 1,
  },
  payment_notes: {
    payment_id: 'bank:7',
    note_no: 1,
    at,
    author: 'one@sluice.example',
    assigns: false,
    note: 'The payer calls back.',
  },
  users: {
    user_id: 2,
    email: 'two@sluice.example',
    role: 'viewer',
    created_at: at,
    updated_at: at,
  },
  sessions: {
    session_id: uuid(2),
    user_id: 1,
    token_hash: digest(2),
    ip: '::1',
    created_at: at,
    last_seen_at: at,
  },
  invitations: {
    token_hash: digest(2),
    user_id: 1,
    sealed_totp_secret: '\\x00',
    created_at: at,
    expires_at: '2026-01-02T00:00:00Z',
  },
  user_credentials: { user_id: 1, n: 2, reset_by: 0, made_at: at },
  proposals: {
    proposal_id: uuid(12),
    action: 'adjust_wallet',
    subject_kind: 'wallet',
    subject_id: 'app_one',
    agent_id: 1,
    route: 'POST /wallets/:app_id/adjust',
    input: '{}',
    permission: 'adjust_wallets',
    admin_only: false,
    digest: digest(1),
    proposed_by: 1,
    proposer: 'one@sluice.example',
    credential: 1,
    proposer_reset_by: 0,
    proposed_at: at,
    expires_at: '2026-01-02T00:00:00Z',
  },
  // By another user, who is not among those of the other tables.
  proposal_decisions: {
    proposal_id: uuid(11),
    digest: digest(1),
    proposed_by: 1,
    proposer_reset_by: 0,
    expires_at: '2026-01-02T00:00:00Z',
    verdict: 'approved',
    decided_by: 7,
    decider: 'seven@sluice.example',
    credential: 1,
    reset_by: 0,
    decided_at: at,
  },
  proposal_effects: { proposal_id: uuid(14), verdict: 'approved', at },
  proposal_ends: { proposal_id: uuid(14), verdict: 'approved', state: 'done', at },
  proposal_answers: { proposal_id: uuid(13), sealed_answer: '\\x00', made_at: at },
  proposal_runs: { proposal_id: uuid(11), n: 1, at },
  approval_rules: {
    action: 'adjust_wallet',
    agent_id: 0,
    currency: 'THB',
    needs_two: true,
    above: 100,
    admin_only: false,
    updated_at: at,
    updated_by: 'one@sluice.example',
  },
  stops: {
    agent_id: 0,
    stop_id: uuid(1),
    deposits: false,
    stopped_at: at,
    stopped_by: 'one@sluice.example',
    reason: 'a stolen key',
  },
  agent_secrets: {
    agent_id: 1,
    n: 1,
    name: 'reports',
    scopes: ['read'],
    allowed_ips: [],
    sealed_secret: '\\x00',
    created_at: at,
    created_by: 'one@sluice.example',
  },
  secret_addresses: { agent_id: 1, secret: 'main', address: '192.0.2.1', first_used_at: at },
  limit_rules: {
    agent_id: 1,
    name: 'payee-day',
    kind: 'withdraw',
    measure: 'amount',
    per: 'account',
    period: 'day',
    most: 100,
    currency: 'THB',
    outcome: 'hold',
    updated_at: at,
    updated_by: 'one@sluice.example',
  },
  // Of a rule that is not the one of the other rows.
  limit_entries: { agent_id: 2, name: 'blocked', value: '123' },
  limit_counting: { agent_id: 1, kind: 'withdraw', per: 'account', counts_from: at },
  limit_uses: {
    agent_id: 1,
    kind: 'withdraw',
    per: 'account',
    subject: 'SCB:1',
    starts_at: at,
    amount: 1,
    orders: 1,
  },
  limit_payees: { agent_id: 1, account: 'SCB:1', order_id: uuid(1) },
  limit_checks: { agent_id: 1, order_id: uuid(1), outcome: 'note', words: 'new', at },
  alarms: { alarm_id: uuid(2), at, raised_by: 'command line', words: 'Broken glass.' },
  alarm_acknowledgements: { alarm_id: uuid(1), user_id: 1, at },
  passkeys: {
    credential_id: 'a'.repeat(16),
    user_id: 1,
    name: 'phone',
    public_key: digest(1),
    counter: 0,
    created_at: at,
  },
  passkey_challenges: { challenge: 'a'.repeat(43), purpose: 'sign_in', expires_at: at },
  passkey_proofs: { token_hash: digest(1), user_id: 1, session_id: uuid(1), expires_at: at },
  oidc_sign_ins: { token_hash: digest(1), user_id: 1, expires_at: at },
  alerts: {
    alert_id: uuid(2),
    kind: 'test',
    subject: 'user 1',
    user_id: 1,
    roles: [],
    except_user_id: 0,
    words: 'A test.',
    count: 1,
    first_at: at,
    last_at: at,
  },
  alert_deliveries: {
    alert_id: uuid(1),
    user_id: 1,
    channel: 'mail',
    state: 'waiting',
    attempts: 0,
    due_at: at,
  },
  alert_channels: { user_id: 1, channel: 'line', target: 'U1', updated_at: at },
  alert_choices: { user_id: 1, kind: 'proof_red', channels: [] },
  alert_watch: { kind: 'proof_red', subject: '1', since: at },
  audit_log: {
    audit_id: uuid(2),
    at,
    user_id: 1,
    email: 'one@sluice.example',
    action: 'void_order',
    subject_kind: 'order',
    subject_id: '1-2',
    outcome: 'done',
    lane: 1,
    lane_seq: 2,
    hash: '0'.repeat(64),
  },
  audit_lanes: { lane: 98, seq: 0, hash: '0'.repeat(64) },
  proofs: { agent_id: 1, proved_seq: 0, again_seq: 0, checked_at: at },
  limit_buckets: { bucket: 'one', tokens: 1, granted: 1, refilled_at: at },
  schema_migrations: { name: 'another', sha256: 'x', applied_at: at },
  archive_parts: {
    agent_id: 1,
    part: 2,
    from_seq: 2,
    to_seq: 2,
    ...noMoney,
    ended_at: at,
    name: 'app_one/part-000002.json',
    sha256: '0'.repeat(64),
    orders: 1,
    removed_orders: 0,
    state: 'written',
    made_at: at,
  },
  archived_refs: { agent_id: 1, ref_id: 'ref-9', order_id: uuid(9), part: 1 },
  archived_keys: { agent_id: 1, once_key: 'adjustment:9' },
}

const closedItem = {
  closed_at: at,
  resolution: 'looked_into',
  closed_by: 'one@sluice.example',
  evidence: 'statement 7',
}
const decided = { decided_at: at, decided_seq: 2 }
const credited = { state: 'credited', why: null, credited_to: 'order' }

/** What is there before each case. */
const present: [table: string, fields: Fields][] = [
  ['agents', { agent_id: 1, app_id: 'app_one' }],
  ['agents', { agent_id: 3, app_id: 'app_three' }],
  ['wallets', { agent_id: 1 }],
  ['agent_keys', { slot: 1 }],
  ['agent_brands', { agent_id: 1 }],
  ['orders', { order_id: uuid(1), ref_id: 'ref-1' }],
  ['journal', { seq: 1, once_key: 'payment:1' }],
  ['payments', { payment_id: 'bank:1', ...credited }],
  ['payouts', { attempt: 1, reference: 'b-1', state: 'handed', ask_at: at }],
  ['journal', { seq: 2, once_key: 'payment:3' }],
  ['callbacks', { seq: 2 }],
  ['callback_lanes', { agent_id: 1 }],
  ['callback_claims', { turn: 2 }],
  [
    'users',
    {
      user_id: 1,
      email: 'one@sluice.example',
      oidc_issuer: 'https://id.example',
      oidc_subject: 'zero',
    },
  ],
  ['audit_log', { audit_id: uuid(1), lane_seq: 1 }],
  ['sessions', { session_id: uuid(1), token_hash: digest(1) }],
  ['user_credentials', { n: 1 }],
  ['user_credentials', { user_id: 7, n: 1 }],
  // Reset by who proposes, and by who reset both.
  ['user_credentials', { user_id: 7, n: 2, reset_by: 1 }],
  ['user_credentials', { user_id: 7, n: 3, reset_by: 5 }],
  ['user_credentials', { n: 3, reset_by: 7 }],
  ['user_credentials', { n: 4, reset_by: 5 }],
  ['proposals', { proposal_id: uuid(11), ...takeOutOf(1) }],
  [
    'limit_rules',
    {
      agent_id: 2,
      name: 'blocked',
      measure: 'blocked',
      per: null,
      period: null,
      most: null,
      currency: null,
      field: 'account',
    },
  ],
  ['proposals', { proposal_id: uuid(13), ...takeOutOf(1) }],
  ['proposals', { proposal_id: uuid(14), ...takeOutOf(5) }],
  ['proposals', { proposal_id: uuid(15), credential: 3, proposer_reset_by: 7 }],
  ['proposals', { proposal_id: uuid(16), credential: 4, proposer_reset_by: 5 }],
  ['proposal_decisions', { proposal_id: uuid(13) }],
  ['proposal_decisions', { proposal_id: uuid(14) }],
  ['proposal_effects', { proposal_id: uuid(13) }],
  ['alarms', { alarm_id: uuid(1) }],
  ['alerts', { alert_id: uuid(1), subject: 'user 7' }],
  ['bank_accounts', { name: 'scb', only_one: 'THB SCB 1' }],
  ['expected_deposits', { code: 'SX0000000000B', payable: 101 }],
  ['bank_files', { file_id: uuid(1), sha256: 'a'.repeat(64) }],
  ['bank_files', { file_id: uuid(3), sha256: 'c'.repeat(64) }],
  ['bank_file_confirmations', { file_id: uuid(1) }],
  ['bank_day_signoffs', { signoff_no: 2 }],
  ['bank_statements', { statement_id: uuid(1) }],
  ['bank_movements', { movement_id: uuid(1) }],
  ['bank_movements', { movement_id: uuid(3), amount: -100, returns: uuid(1) }],
  ['bank_reports', { report_key: 'one' }],
  ...payoutFilesThere,
  ...connectorsPresent,
]

const changedByTwo = { changed_by: 'two@sluice.example', changed_at: at, changed: 'account_no' }
const madeBy = (user: number, credential: number, resetBy: number) => ({
  ...{ maker_user_id: user, maker_credential: credential, maker_reset_by: resetBy },
})
const confirmedBySeven = {
  ...{ confirmer_user_id: 7, confirmer_credential: 1, confirmer_reset_by: 0 },
}
const tried = { test_paid_by: 'two@sluice.example', test_paid_at: at, test_paid: 100 }
const withdrawal = { kind: 'withdraw', expires_at: null, late_money: null, revert_fee: 'return' }
const adjustment = { event: 'adjustment', order_id: null, reason: 'why' }
const negative = { available: -1, clearing: 1 }

/** What each constraint is there to refuse: a good row with one thing wrong. */
/** What makes the good limit one for new accounts. */
const newAccount = {
  measure: 'new_account',
  per: null,
  period: null,
  most: null,
  currency: null,
  outcome: 'wait',
  hours: 2,
}

const cases: [constraint: string, table: string, spoiled: Fields][] = [
  ...payoutFileCases,
  ...connectorCases,
  ['agents_pkey', 'agents', { agent_id: 1 }],
  ['agents_app_id_key', 'agents', { app_id: 'app_one' }],
  ['agents_agent_id_check', 'agents', { agent_id: 0 }],
  ['agents_app_id_check', 'agents', { app_id: 'a b c d' }],
  ['agents_app_id_check', 'agents', { app_id: 'abc' }],
  ['agents_name_check', 'agents', { name: '' }],
  ['agents_name_check', 'agents', { name: 'x'.repeat(129) }],
  ['agents_currency_check', 'agents', { currency: 'XXX' }],
  ['agents_status_check', 'agents', { status: 'gone' }],
  ['agents_reserve_check', 'agents', { reserve: '5%' }],
  ['agents_return_url_check', 'agents', { return_url: 'javascript:alert(1)' }],
  ['agents_return_url_check', 'agents', { return_url: `https://${'x'.repeat(2_000)}` }],
  ['agents_settle_check', 'agents', { settle: 'monthly' }],
  ['agents_settle_check', 'agents', { settle: 'daily' }],
  ['agents_settle_check', 'agents', { settle_keep: -1 }],
  ['agents_settle_check', 'agents', { settle_to: '' }],
  ['agents_revert_fee_check', 'agents', { revert_fee: 'half' }],
  ['agents_late_money_check', 'agents', { late_money: 'drop' }],
  ['agents_method_check', 'agents', { method: 'qrcode' }],
  ['agents_expires_in_s_check', 'agents', { expires_in_s: 0 }],
  ['agents_expires_in_s_check', 'agents', { expires_in_s: 2_592_001 }],
  ['agents_rate_limit_check', 'agents', { rate_limit: -1 }],
  ['agents_deposit_limits', 'agents', { min_deposit: 0 }],
  ['agents_deposit_limits', 'agents', { min_deposit: 1001 }],
  ['agents_deposit_limits', 'agents', { max_deposit: 1_000_000_000_001 }],
  ['agents_withdraw_limits', 'agents', { min_withdraw: 0 }],
  ['agents_withdraw_limits', 'agents', { min_withdraw: 1001 }],
  ['agents_withdraw_limits', 'agents', { max_withdraw: 1_000_000_000_001 }],

  ['agent_keys_pkey', 'agent_keys', { slot: 1 }],
  ['agent_keys_agent_id_fkey', 'agent_keys', { agent_id: 99 }],
  ['agent_keys_slot_check', 'agent_keys', { slot: 3 }],

  ['agent_brands_pkey', 'agent_brands', { agent_id: 1 }],
  ['agent_brands_agent_id_fkey', 'agent_brands', { agent_id: 99 }],
  ['agent_brands_colour_check', 'agent_brands', { colour: 'red' }],
  ['agent_brands_colour_check', 'agent_brands', { colour: '#fff;}' }],
  ['agent_brands_logo_check', 'agent_brands', { logo: '\\x' }],
  ['agent_brands_logo_check', 'agent_brands', { logo: `\\x${'00'.repeat(32_769)}` }],
  ['agent_brands_logo_type_check', 'agent_brands', { logo_type: 'image/svg+xml' }],
  ['agent_brands_logo_has_type', 'agent_brands', { logo_type: null }],
  ['agent_brands_logo_has_type', 'agent_brands', { logo: null }],

  ['wallets_pkey', 'wallets', { agent_id: 1 }],
  ['wallets_book', 'wallets', { agent_id: 0 }],
  ['wallets_book', 'wallets', { agent_id: -1, currency: 'VND' }],
  ['wallets_book', 'wallets', { currency: 'XXX' }],
  ['wallets_book', 'wallets', { agent_id: -13, currency: 'USD' }],
  ['wallets_of_house', 'wallets', { differences: 1, clearing: -1 }],
  ['wallets_suspense_not_negative', 'wallets', { suspense: -1, clearing: 1 }],
  ['wallets_reserve_not_negative', 'wallets', { reserve: -1, clearing: 1 }],
  ['clearings_agent_id_fkey', 'clearings', { agent_id: 99 }],
  ['clearings_provider_check', 'clearings', { provider: '' }],
  ['clearings_seq_check', 'clearings', { seq: -1 }],
  ['wallets_seq_check', 'wallets', { seq: -1 }],
  ['wallets_balance', 'wallets', { available: 1 }],
  ['wallets_held_not_negative', 'wallets', { held: -1, available: 1 }],
  ...beyond([
    'available',
    'held',
    'reserve',
    'fees',
    'costs',
    'adjustments',
    'suspense',
    'transfers',
  ]).map((spoiled): [string, string, Fields] => ['wallets_bound', 'wallets', spoiled]),

  ['orders_pkey', 'orders', { order_id: uuid(1) }],
  ['orders_agent_id_ref_id_key', 'orders', { ref_id: 'ref-1' }],
  ['orders_agent_id_ref_id_key', 'orders', { ref_id: 'ref-1', ...withdrawal }],
  ['orders_kind_check', 'orders', { kind: 'refund', expires_at: null, late_money: null }],
  ['orders_ref_id_check', 'orders', { ref_id: '' }],
  ['orders_ref_id_check', 'orders', { ref_id: 'x'.repeat(65) }],
  ['orders_refund_of_check', 'orders', { refund_of: uuid(1) }],
  ['orders_refund_of_check', 'orders', { ...withdrawal, refund_of: uuid(2) }],
  ['orders_user_id_check', 'orders', { user_id: '' }],
  ['orders_user_id_check', 'orders', { user_id: 'x'.repeat(65) }],
  ['orders_amount_check', 'orders', { amount: 0 }],
  ['orders_fee_check', 'orders', { fee: -1 }],
  ['orders_late_money_check', 'orders', { late_money: null }],
  ['orders_late_money_check', 'orders', { late_money: 'drop' }],
  ['orders_late_money_check', 'orders', { ...withdrawal, late_money: 'review' }],
  ['orders_reserve_check', 'orders', { reserve_rule: 'none' }],
  ['orders_reserve_check', 'orders', { ...withdrawal, reserve_rule: '5%/90' }],
  ['orders_reserve_check', 'orders', { reserve_rule: '5%/90', release_at: at }],
  [
    'orders_reserve_check',
    'orders',
    { status: 'PAID', completed_at: at, ...paid(), release_at: at },
  ],
  ['orders_revert_fee_check', 'orders', { ...withdrawal, revert_fee: null }],
  ['orders_revert_fee_check', 'orders', { ...withdrawal, revert_fee: 'half' }],
  ['orders_revert_fee_check', 'orders', { revert_fee: 'return' }],
  ['orders_account_name_check', 'orders', { account_name: '' }],
  ['orders_account_name_check', 'orders', { account_name: 'x'.repeat(129) }],
  ['orders_account_no_check', 'orders', { account_no: '123' }],
  ['orders_account_no_check', 'orders', { account_no: '1234-5678' }],
  ['orders_bank_code_check', 'orders', { bank_code: 'scb' }],
  ['orders_extra_params_check', 'orders', { extra_params: 'ก'.repeat(1_366) }],
  ['orders_version_check', 'orders', { version: 0 }],
  ['orders_paid_amount_check', 'orders', { paid_amount: 0, paid_fee: 0 }],
  ['orders_paid_fee_check', 'orders', { paid_amount: 1, paid_fee: -1 }],
  ['orders_status_of_kind', 'orders', { status: 'CANCEL', completed_at: at }],
  ['orders_status_of_kind', 'orders', { status: 'REVERT', completed_at: at, ...paid() }],
  ['orders_status_of_kind', 'orders', { status: 'VOID', completed_at: at, ...withdrawal }],
  ['orders_status_of_kind', 'orders', { status: 'EXPIRED', completed_at: at, ...withdrawal }],
  ['orders_status_of_kind', 'orders', { status: 'DONE', completed_at: at }],
  ['orders_deposit_expires', 'orders', { expires_at: null }],
  ['orders_deposit_expires', 'orders', { ...withdrawal, expires_at: at }],
  ['orders_completed', 'orders', { completed_at: at }],
  ['orders_completed', 'orders', { status: 'FAILED' }],
  ['orders_paid', 'orders', { status: 'PAID', completed_at: at }],
  ['orders_paid', 'orders', { status: 'REVERT', completed_at: at, ...withdrawal }],
  ['orders_paid', 'orders', { paid_amount: 1 }],
  ['orders_handed_over', 'orders', { handed_over_at: at, provider: 'p', provider_ref: 'r' }],
  ['orders_handed_over', 'orders', { handed_over_at: at, provider: 'p', ...withdrawal }],
  ['orders_handed_over', 'orders', { handed_over_at: at, provider_ref: 'r', ...withdrawal }],

  ['journal_pkey', 'journal', { seq: 1 }],
  ['journal_agent_id_fkey', 'journal', { agent_id: 3, ...adjustment }],
  ['journal_agent_id_order_id_fkey', 'journal', { order_id: uuid(9) }],
  ['journal_seq_check', 'journal', { seq: 0 }],
  ['journal_event_check', 'journal', { event: 'deposit_lost' }],
  ['journal_once_key_check', 'journal', { once_key: '' }],
  ['journal_once_key_check', 'journal', { once_key: 'x'.repeat(257) }],
  ['journal_reason_check', 'journal', { reason: '' }],
  ['journal_reason_check', 'journal', { reason: 'x'.repeat(1_001) }],
  ['journal_chained', 'journal', { hash: null }],
  ['journal_chained', 'journal', { hash: 'abc' }],
  ['wallets_chained', 'wallets', { hash: 'abc' }],
  ['journal_legs_balance', 'journal', { available_change: 99 }],
  ['journal_balances_balance', 'journal', { available: 99 }],
  ['journal_held_not_negative', 'journal', { held: -1, available: 101 }],
  [
    'journal_available_not_negative',
    'journal',
    { ...negative, event: 'withdraw_held', available_change: -1, clearing_change: 1 },
  ],
  ...beyond(accountNames.filter((name) => name !== 'clearing')).map(
    (spoiled): [string, string, Fields] => ['journal_bound', 'journal', spoiled],
  ),
  ['journal_of_order_or_book', 'journal', { order_id: null }],
  ['journal_of_order_or_book', 'journal', { event: 'adjustment', reason: 'why' }],
  ['journal_of_order_or_book', 'journal', { event: 'payment_received' }],
  ['journal_suspense_not_negative', 'journal', { suspense: -1, available: 101 }],
  ['journal_reserve_not_negative', 'journal', { reserve: -1, available: 101 }],
  ['journal_clearing_at', 'journal', { clearing_at: null, clearing_there: null }],
  ['journal_clearing_at', 'journal', { clearing_there: null }],
  ['journal_clearing_at', 'journal', { available_change: 0, clearing_change: 0 }],
  ['journal_clearing_at', 'journal', { clearing_at: '' }],
  ['journal_once', 'journal', { once_key: null }],
  ['journal_once', 'journal', { ...adjustment, once_key: null }],
  ['journal_once_key', 'journal', { once_key: 'payment:1' }],
  ['journal_once_key', 'journal', { once_key: 'payment:1', ...adjustment }],
  [
    'journal_paid_after_failed_has_reason',
    'journal',
    { event: 'withdraw_paid_after_failed', once_key: null, reason: null },
  ],
  ['journal_has_reason', 'journal', { ...adjustment, reason: null }],
  ['journal_has_reason', 'journal', { ...adjustment, event: 'written_off', reason: null }],

  ['callbacks_agent_id_seq_fkey', 'callbacks', { seq: 9 }],
  ['callbacks_state_check', 'callbacks', { state: 'lost' }],
  ['callbacks_kind_check', 'callbacks', { kind: 'refund' }],
  ['callbacks_attempts_check', 'callbacks', { attempts: -1 }],
  ['callbacks_again_check', 'callbacks', { again: -1 }],
  ['callback_claims_pkey', 'callback_claims', { turn: 2 }],
  ['callback_claims_seqs_check', 'callback_claims', { seqs: '{}' }],

  ['callback_lanes_pkey', 'callback_lanes', { agent_id: 1 }],
  ['callback_lanes_agent_id_fkey', 'callback_lanes', { agent_id: 99 }],
  ['callback_lanes_width_check', 'callback_lanes', { width: 0 }],
  ['callback_lanes_failed_seqs_check', 'callback_lanes', { failed_seqs: '{1,2,3,4,5,6}' }],
  ['callback_lanes_probe_every_s_check', 'callback_lanes', { probe_every_s: 0 }],

  ['callback_attempts_duration_ms_check', 'callback_attempts', { duration_ms: -1 }],
  [
    'callback_attempts_response_body_check',
    'callback_attempts',
    { response_body: `\\x${'00'.repeat(16_385)}` },
  ],

  ['orders_currency_check', 'orders', { currency: 'usd' }],
  ['orders_currency_check', 'orders', { currency: null }],
  ['journal_currency_check', 'journal', { currency: 'usd' }],
  ['journal_currency_check', 'journal', { currency: null }],
  ['orders_instructions', 'orders', { instructions: 'x'.repeat(4097) }],
  ['orders_instructions', 'orders', { instructions: '{}', ...withdrawal }],

  ['payments_pkey', 'payments', { payment_id: 'bank:1' }],
  ['payments_agent_id_fkey', 'payments', { agent_id: 3 }],
  ['payments_agent_id_order_id_fkey', 'payments', { order_id: uuid(9) }],
  ['payments_payment_id_check', 'payments', { payment_id: 'b:' }],
  ['payments_payment_id_check', 'payments', { payment_id: 'x'.repeat(201) }],
  ['payments_amount_check', 'payments', { amount: 0 }],
  ['payments_state_check', 'payments', { state: 'lost' }],
  ['payments_why_check', 'payments', { why: 'unknown' }],
  ['payments_waiting_has_why', 'payments', { why: null }],
  ['payments_credited_to_check', 'payments', { ...credited, credited_to: 'nobody' }],
  ['payments_credited_to', 'payments', { ...credited, credited_to: null }],
  ['payments_credited_to', 'payments', { ...credited, order_id: null }],
  ['payments_credited_to', 'payments', { credited_to: 'wallet' }],
  ['payments_evidence_check', 'payments', { state: 'returned', evidence: '', returned_seq: 1 }],
  ['payments_returned_has_evidence', 'payments', { state: 'returned', returned_seq: 1 }],
  ['payments_returned_by_row', 'payments', { state: 'returned', evidence: 'a slip' }],
  ['payments_returned_by_row', 'payments', { returned_seq: 1 }],
  ['payments_one_pays', 'payments', credited],

  ['deployment_only_one_check', 'deployment', { only_one: false }],
  ['deployment_mode_check', 'deployment', { mode: 'test' }],
  ['providers_name_check', 'providers', { name: 'Bank' }],
  ['providers_state_check', 'providers', { state: 'paused' }],
  ['provider_routes_route_check', 'provider_routes', { route: 'a b' }],
  ['provider_routes_direction_check', 'provider_routes', { direction: 'both' }],
  ['provider_routes_currency_check', 'provider_routes', { currency: 'usd' }],
  ['provider_routes_banks_check', 'provider_routes', { banks: [] }],
  ['provider_routes_amounts', 'provider_routes', { min_amount: 0 }],
  ['provider_routes_amounts', 'provider_routes', { min_amount: 101 }],
  ['provider_routes_preference_check', 'provider_routes', { preference: 0 }],
  ['provider_routes_weight_check', 'provider_routes', { weight: 0 }],

  ['bank_accounts_pkey', 'bank_accounts', { name: 'scb' }],
  ['bank_accounts_only_one_key', 'bank_accounts', { only_one: 'THB SCB 1' }],
  ['bank_accounts_name_check', 'bank_accounts', { name: 'sandbox' }],
  ['bank_accounts_name_check', 'bank_accounts', { name: 'A b' }],
  ['bank_accounts_currency_check', 'bank_accounts', { currency: 'baht' }],
  ['bank_accounts_bank_code_check', 'bank_accounts', { bank_code: 'x y' }],
  ['bank_accounts_account_no_check', 'bank_accounts', { account_no: '12' }],
  ['bank_accounts_former_numbers_check', 'bank_accounts', { former_numbers: 'x'.repeat(4001) }],
  ['bank_accounts_only_one_check', 'bank_accounts', { only_one: 'x' }],
  ['bank_accounts_account_name_check', 'bank_accounts', { account_name: '' }],
  ['bank_accounts_city_check', 'bank_accounts', { city: '' }],
  ['bank_accounts_address_check', 'bank_accounts', { address: '' }],
  ['bank_accounts_encoding_check', 'bank_accounts', { encoding: '' }],
  ['bank_accounts_qr_kind_check', 'bank_accounts', { qr_kind: 'QR' }],
  ['bank_accounts_qr_value_check', 'bank_accounts', { qr_value: '' }],
  ['bank_accounts_match_check', 'bank_accounts', { match: 'name' }],
  ['bank_accounts_surplus_steps_check', 'bank_accounts', { surplus_steps: 0 }],
  ['bank_accounts_hold_s_check', 'bank_accounts', { hold_s: -1 }],
  ['bank_accounts_day_limit_check', 'bank_accounts', { day_limit: 0 }],
  ['bank_accounts_zone_check', 'bank_accounts', { zone: '' }],
  ['bank_accounts_csv_profile_check', 'bank_accounts', { csv_profile: 'x'.repeat(8193) }],
  ['bank_accounts_own_accounts_check', 'bank_accounts', { own_accounts: 'x'.repeat(4001) }],
  ['bank_accounts_created_by_check', 'bank_accounts', { created_by: 'x' }],
  ['bank_accounts_version_check', 'bank_accounts', { version: 0 }],
  ['bank_accounts_feed_check', 'bank_accounts', { feed: 'post', feed_secret: 'x' }],
  ['bank_accounts_feed_secret', 'bank_accounts', { feed: 'signed' }],
  ['bank_accounts_feed_secret', 'bank_accounts', { feed_secret: 'x' }],
  [
    'bank_accounts_feed_secret_check',
    'bank_accounts',
    { feed: 'signed', feed_secret: 'x'.repeat(501) },
  ],
  ['bank_accounts_confirmed', 'bank_accounts', { confirmed_at: at }],
  ['bank_accounts_confirmed_by_check', 'bank_accounts', { confirmed_at: at, confirmed_by: 'x' }],
  [
    'bank_accounts_two_people',
    'bank_accounts',
    { confirmed_at: at, confirmed_by: 'one@sluice.example' },
  ],
  [
    'bank_accounts_two_people',
    'bank_accounts',
    { ...changedByTwo, confirmed_at: at, confirmed_by: 'two@sluice.example' },
  ],
  ['bank_accounts_maker', 'bank_accounts', { maker_user_id: 1 }],
  ['bank_accounts_confirmer', 'bank_accounts', { ...confirmedBySeven, confirmer_reset_by: null }],
  ['bank_accounts_confirmer', 'bank_accounts', confirmedBySeven],
  ...([
    { ...madeBy(7, 1, 0), ...confirmedBySeven },
    { ...madeBy(1, 4, 7), ...confirmedBySeven },
    { ...madeBy(1, 1, 0), ...confirmedBySeven, confirmer_credential: 2, confirmer_reset_by: 1 },
    { ...madeBy(1, 4, 5), ...confirmedBySeven, confirmer_credential: 3, confirmer_reset_by: 5 },
  ].map((row) => [
    'bank_accounts_independent',
    'bank_accounts',
    { ...row, confirmed_at: at, confirmed_by: 'two@sluice.example' },
  ]) as [string, string, Fields][]),
  ['bank_accounts_of_maker', 'bank_accounts', madeBy(1, 9, 0)],
  [
    'bank_accounts_of_confirmer',
    'bank_accounts',
    {
      ...{ ...confirmedBySeven, confirmer_credential: 9 },
      ...{ confirmed_at: at, confirmed_by: 'two@sluice.example' },
    },
  ],
  ['bank_accounts_changed', 'bank_accounts', { changed_by: 'two@sluice.example' }],
  ['bank_accounts_changed', 'bank_accounts', { ...changedByTwo, changed: '' }],
  ['bank_accounts_test_paid', 'bank_accounts', { test_paid: 100 }],
  ['bank_accounts_test_paid', 'bank_accounts', { ...tried, test_paid: 0 }],
  ['bank_accounts_file_limit', 'bank_accounts', { file_limit: -1 }],
  ['bank_accounts_token_limits', 'bank_accounts', { token_limit: -1 }],
  ['bank_accounts_expected_deduction', 'bank_accounts', { expected_deduction: -1 }],
  ['bank_accounts_feed_profile_check', 'bank_accounts', { feed_profile: '' }],
  [
    'bank_accounts_tried',
    'bank_accounts',
    { qr_kind: 'template', confirmed_at: at, confirmed_by: 'two@sluice.example' },
  ],

  ['bank_file_confirmations_pkey', 'bank_file_confirmations', { file_id: uuid(1) }],
  ['bank_file_confirmations_account_fkey', 'bank_file_confirmations', { account: 'nobody' }],
  [
    'bank_file_confirmations_account_file_id_brought_by_fkey',
    'bank_file_confirmations',
    { brought_by: 'two@sluice.example' },
  ],
  ['bank_file_confirmations_confirmed_by_check', 'bank_file_confirmations', { confirmed_by: 'x' }],
  ['bank_file_confirmations_movements_check', 'bank_file_confirmations', { movements: -1 }],
  ['bank_file_confirmations_amount_check', 'bank_file_confirmations', { amount: -1 }],
  ['bank_file_confirmations_two_people', 'bank_file_confirmations', { confirmed_by: 'folder' }],

  ['bank_file_confirmations_confirmer', 'bank_file_confirmations', { confirmer_user_id: 7 }],
  [
    'bank_file_confirmations_confirmer',
    'bank_file_confirmations',
    { ...confirmedBySeven, confirmed_by: null },
  ],
  ...([
    { ...confirmedBySeven, bringer_user_id: 7 },
    { ...confirmedBySeven, bringer_user_id: 1, bringer_reset_by: 7 },
    {
      ...{ ...confirmedBySeven, confirmer_credential: 2, confirmer_reset_by: 1 },
      bringer_user_id: 1,
    },
    {
      ...{ ...confirmedBySeven, confirmer_credential: 3, confirmer_reset_by: 5 },
      ...{ bringer_user_id: 1, bringer_reset_by: 5 },
    },
  ].map((row) => ['bank_file_confirmations_independent', 'bank_file_confirmations', row]) as [
    string,
    string,
    Fields,
  ][]),
  ['bank_file_confirmations_of_bringer', 'bank_file_confirmations', { bringer_user_id: 1 }],
  [
    'bank_file_confirmations_of_confirmer',
    'bank_file_confirmations',
    { ...confirmedBySeven, confirmer_credential: 9 },
  ],
  ['bank_files_of_bringer', 'bank_files', { bringer_user_id: 1, bringer_credential: 9 }],

  ['bank_day_signoffs_pkey', 'bank_day_signoffs', { signoff_no: 2 }],
  ['bank_day_signoffs_account_fkey', 'bank_day_signoffs', { account: 'nobody' }],
  ['bank_day_signoffs_signoff_no_check', 'bank_day_signoffs', { signoff_no: 0 }],
  ['bank_day_signoffs_signed_by_check', 'bank_day_signoffs', { signed_by: 'x' }],
  ['bank_day_signoffs_state_check', 'bank_day_signoffs', { state: 'blue', reason: 'why' }],
  ['bank_day_signoffs_shown_check', 'bank_day_signoffs', { shown: 'x' }],
  ['bank_day_signoffs_movements_check', 'bank_day_signoffs', { movements: 'x' }],
  ['bank_day_signoffs_reason_check', 'bank_day_signoffs', { reason: 'x' }],
  ['bank_day_signoffs_reason', 'bank_day_signoffs', { state: 'amber' }],

  ['expected_deposits_pkey', 'expected_deposits', { code: 'SX0000000000B' }],
  ['expected_deposits_account_fkey', 'expected_deposits', { account: 'nobody' }],
  ['expected_amounts', 'expected_deposits', { payable: 101 }],
  ['expected_deposits_code_check', 'expected_deposits', { code: 'sx' }],
  ['expected_deposits_agent_id_check', 'expected_deposits', { agent_id: 0 }],
  ['expected_deposits_state_check', 'expected_deposits', { state: 'gone' }],
  ['expected_deposits_amount_check', 'expected_deposits', { amount: 0 }],
  ['expected_deposits_check', 'expected_deposits', { payable: 99 }],
  ['expected_deposits_deduction', 'expected_deposits', { deduction: -1 }],
  ['expected_deposits_times', 'expected_deposits', { held_until: '2025-12-31T00:00:00Z' }],
  ['expected_deposits_times', 'expected_deposits', { created_at: '2026-01-02T00:00:00Z' }],

  ['bank_files_pkey', 'bank_files', { file_id: uuid(1) }],
  ['bank_files_account_sha256_key', 'bank_files', { sha256: 'a'.repeat(64) }],
  ['bank_files_account_fkey', 'bank_files', { account: 'nobody' }],
  ['bank_files_sha256_check', 'bank_files', { sha256: 'A' }],
  ['bank_files_name_check', 'bank_files', { name: '' }],
  ['bank_files_size_check', 'bank_files', { size: -1 }],
  ['bank_files_via_check', 'bank_files', { via: 'post' }],
  ['bank_files_brought_by_check', 'bank_files', { brought_by: 'x' }],
  ['bank_files_fault_check', 'bank_files', { fault: '' }],

  ['bank_statements_pkey', 'bank_statements', { statement_id: uuid(1) }],
  ['bank_statements_account_fkey', 'bank_statements', { account: 'nobody' }],
  ['bank_statements_account_file_id_fkey', 'bank_statements', { file_id: uuid(9) }],
  ['bank_statements_source_check', 'bank_statements', { source: 'push' }],
  ['bank_statements_bank_id_check', 'bank_statements', { bank_id: 'x'.repeat(101) }],
  ['bank_statements_bank_seq_check', 'bank_statements', { bank_seq: 'x'.repeat(41) }],
  ['bank_statements_entries_check', 'bank_statements', { entries: -1 }],

  ['bank_movements_pkey', 'bank_movements', { movement_id: uuid(1) }],
  ['bank_movements_account_fkey', 'bank_movements', { account: 'nobody' }],
  ['bank_movements_returned', 'bank_movements', { returns: uuid(1) }],
  ['bank_movements_amount_check', 'bank_movements', { amount: 0 }],
  ['bank_movements_currency_check', 'bank_movements', { currency: 'baht' }],
  ['bank_movements_text_check', 'bank_movements', { text: 'x'.repeat(4001) }],
  ['bank_movements_payer_account_no_check', 'bank_movements', { payer_account_no: 'x'.repeat(65) }],
  ['bank_movements_payer_name_check', 'bank_movements', { payer_name: 'x'.repeat(201) }],
  ['bank_movements_payer_bank_check', 'bank_movements', { payer_bank: 'x'.repeat(65) }],
  ['bank_movements_detail_check', 'bank_movements', { detail: 'x'.repeat(1001) }],
  ['bank_movements_tries_check', 'bank_movements', { tries: -1 }],
  ['bank_movements_why_check', 'bank_movements', { why: 'late' }],
  ['bank_movements_state_check', 'bank_movements', { state: 'gone', act_at: null }],
  ['bank_movements_agent_id_check', 'bank_movements', { agent_id: 0, order_id: uuid(1) }],
  ['bank_movements_order', 'bank_movements', { agent_id: 1 }],
  ['bank_movements_deducted', 'bank_movements', { deducted: -1 }],
  ['bank_movements_deducted', 'bank_movements', { deducted: 1 }],
  ['bank_movements_explained', 'bank_movements', { explained_by: 'payment' }],
  ['bank_movements_explained', 'bank_movements', { state: 'matched' }],
  [
    'bank_movements_explained_by_check',
    'bank_movements',
    { state: 'matched', explained_by: 'luck' },
  ],
  ['bank_movements_to_act_on', 'bank_movements', { act_at: null }],
  ['bank_movements_to_act_on', 'bank_movements', { state: 'unexplained' }],

  ['bank_reports_pkey', 'bank_reports', { report_key: 'one' }],
  ['bank_reports_account_fkey', 'bank_reports', { account: 'nobody' }],
  ['bank_reports_account_movement_id_fkey', 'bank_reports', { movement_id: uuid(9) }],
  ['bank_reports_report_key_check', 'bank_reports', { report_key: '' }],
  ['bank_reports_amount_check', 'bank_reports', { amount: 0 }],
  ['bank_reports_ids_check', 'bank_reports', { ids: 'x'.repeat(4097) }],
  ['bank_reports_text_check', 'bank_reports', { text: 'x'.repeat(4001) }],
  ['bank_reports_payer_account_no_check', 'bank_reports', { payer_account_no: 'x'.repeat(65) }],
  ['bank_reports_source_check', 'bank_reports', { source: 'post' }],
  ['bank_reports_batch_count_check', 'bank_reports', { batch_count: 1 }],
  ['bank_reports_origin', 'bank_reports', { source: 'push' }],
  ['bank_reports_origin', 'bank_reports', { file_id: null }],

  ['orders_payable', 'orders', { payable: 100 }],
  ['orders_payable', 'orders', { ...withdrawal, payable: 101 }],

  ['payouts_pkey', 'payouts', { attempt: 1 }],
  ['payouts_agent_id_order_id_fkey', 'payouts', { order_id: uuid(9) }],
  ['payouts_attempt_check', 'payouts', { attempt: 0 }],
  ['payouts_provider_check', 'payouts', { provider: '' }],
  ['payouts_reference_check', 'payouts', { reference: '' }],
  ['payouts_state_check', 'payouts', { state: 'lost' }],
  ['payouts_asks_check', 'payouts', { asks: -1 }],
  ['payouts_said_check', 'payouts', { said: 'x'.repeat(1001) }],
  ['payouts_evidence_check', 'payouts', { evidence: '' }],
  ['payouts_asked_while_open', 'payouts', { state: 'unknown' }],
  ['payouts_asked_while_open', 'payouts', { ask_at: at }],
  ['payouts_reference', 'payouts', { reference: 'b-1' }],
  ['payouts_one_open', 'payouts', { state: 'handed', ask_at: at }],

  ['open_items_agent_id_fkey', 'open_items', { agent_id: 3 }],
  ['open_items_agent_id_order_id_fkey', 'open_items', { order_id: uuid(9) }],
  ['open_items_item_id_check', 'open_items', { item_id: 'bank:2' }],
  ['open_items_kind_check', 'open_items', { kind: 'odd' }],
  ['open_items_provider_check', 'open_items', { provider: '' }],
  ['open_items_reference_check', 'open_items', { reference: '' }],
  ['open_items_amount_check', 'open_items', { amount: 0 }],
  ['open_items_currency_check', 'open_items', { currency: 'usd' }],
  ['open_items_provider_said_check', 'open_items', { provider_said: 'WAITING' }],
  [
    'open_items_resolution_check',
    'open_items',
    { ...closedItem, resolution: 'lost', closed_by: null },
  ],
  ['open_items_closed_by_check', 'open_items', { ...closedItem, closed_by: '' }],
  ['open_items_evidence_check', 'open_items', { ...closedItem, evidence: '' }],
  ['open_items_closed', 'open_items', { ...closedItem, evidence: null }],
  ['open_items_closed', 'open_items', { ...closedItem, resolution: null, closed_by: null }],
  ['open_items_closed', 'open_items', { ...closedItem, closed_by: null }],
  ['open_items_closed', 'open_items', { ...closedItem, closed_at: null }],

  ['notice_events_agent_id_check', 'notice_events', { agent_id: -1 }],
  ['notice_events_provider_check', 'notice_events', { provider: '' }],
  ['notice_events_event_id_check', 'notice_events', { event_id: '' }],
  ['notice_events_body_check', 'notice_events', { body: `\\x${'00'.repeat(65_537)}` }],
  ['notice_events_result_check', 'notice_events', { result: 'lost' }],
  ['notice_events_detail_check', 'notice_events', { detail: 'x'.repeat(1001) }],
  ['notice_events_event_check', 'notice_events', { event: 'x'.repeat(65_537) }],
  ['notice_events_tries_check', 'notice_events', { tries: -1 }],
  ['notice_events_open', 'notice_events', { act_at: at, result: 'applied' }],
  ['notice_events_open', 'notice_events', { act_at: at, event: null }],
  ['notice_events_closed', 'notice_events', { result: 'closed', detail: '' }],
  ['notices_provider_check', 'notices', { provider: '' }],
  ['notices_body_check', 'notices', { body: `\\x${'00'.repeat(65_537)}` }],
  ['payout_references_reference_check', 'payout_references', { reference: '' }],
  ['payout_references_agent_id_check', 'payout_references', { agent_id: 0 }],
  ['payout_references_attempt_check', 'payout_references', { attempt: 0 }],
  ['payment_claims_payment_id_check', 'payment_claims', { payment_id: 'b:' }],
  ['payment_claims_agent_id_check', 'payment_claims', { agent_id: -1, order_id: null }],
  ['payment_claims_amount_check', 'payment_claims', { amount: 0 }],
  ['payment_claims_currency_check', 'payment_claims', { currency: 'usd' }],
  ['payment_claims_nobody', 'payment_claims', { agent_id: 0 }],

  ['unmatched_payments_payment_id_check', 'unmatched_payments', { payment_id: 'b:' }],
  ['unmatched_payments_reference_check', 'unmatched_payments', { reference: 'x'.repeat(201) }],
  ['unmatched_payments_amount_check', 'unmatched_payments', { amount: 0 }],
  ['unmatched_payments_currency_check', 'unmatched_payments', { currency: 'usd' }],
  ['unmatched_payments_state_check', 'unmatched_payments', { state: 'lost', ...decided }],
  ['unmatched_payments_evidence_check', 'unmatched_payments', { evidence: '' }],
  ['unmatched_payments_decided', 'unmatched_payments', { decided_at: at }],
  ['unmatched_payments_decided', 'unmatched_payments', { state: 'assigned', ...decided }],
  ['unmatched_payments_decided', 'unmatched_payments', { state: 'returned', ...decided }],
  ['unmatched_payments_decided', 'unmatched_payments', { state: 'dismissed', ...decided }],
  ['unmatched_payments_decided_by_row', 'unmatched_payments', { decided_seq: 1 }],
  [
    'unmatched_payments_decided_by_row',
    'unmatched_payments',
    { state: 'returned', decided_at: at, evidence: 'a slip' },
  ],
  ['unmatched_payments_why_check', 'unmatched_payments', { why: 'odd' }],
  ['unmatched_payments_contradicts', 'unmatched_payments', { why: 'claimed_twice' }],
  ['unmatched_payments_contradicts', 'unmatched_payments', { contradicts: 'bank:6' }],

  ['payment_notes_payment_id_check', 'payment_notes', { payment_id: 'b:' }],
  ['payment_notes_note_no_check', 'payment_notes', { note_no: 0 }],
  ['payment_notes_author_check', 'payment_notes', { author: '' }],
  ['payment_notes_assignee_check', 'payment_notes', { assigns: true, assignee: '', note: null }],
  ['payment_notes_note_check', 'payment_notes', { note: '' }],
  ['payment_notes_says_something', 'payment_notes', { note: null }],
  ['payment_notes_says_something', 'payment_notes', { assigns: true }],
  ['payment_notes_assigns', 'payment_notes', { assignee: 'one@sluice.example' }],

  ['user_credentials_nobody', 'user_credentials', { user_id: -1 }],
  ['user_credentials_n_check', 'user_credentials', { n: -1 }],
  ['user_credentials_reset_by_check', 'user_credentials', { reset_by: -1 }],
  ['user_credentials_by_another', 'user_credentials', { reset_by: 1 }],
  ['user_credentials_nobody', 'user_credentials', { user_id: 0 }],
  ['proposals_action_check', 'proposals', { action: 'X' }],
  ['proposals_subject_kind_check', 'proposals', { subject_kind: 'X' }],
  ['proposals_subject_id_check', 'proposals', { subject_id: '' }],
  ['proposals_agent_id_check', 'proposals', { agent_id: -1 }],
  ['proposals_amount', 'proposals', { amount: 1, currency: 'thb' }],
  ['proposals_amount', 'proposals', { amount: 1 }],
  ['proposals_route_check', 'proposals', { route: '' }],
  ['proposals_permission_check', 'proposals', { permission: 'X' }],
  ['proposals_digest_check', 'proposals', { digest: '\\x00' }],
  ['proposals_proposed_by_check', 'proposals', { proposed_by: -1 }],
  ['proposals_proposer_check', 'proposals', { proposer: '' }],
  ['proposals_reason_check', 'proposals', { reason: '' }],
  ['proposals_expire_later', 'proposals', { expires_at: at }],
  ['proposals_proposed_by_credential_proposer_reset_by_fkey', 'proposals', { credential: 9 }],
  ['proposal_decisions_pkey', 'proposal_decisions', { proposal_id: uuid(13) }],
  ['proposal_decisions_verdict_check', 'proposal_decisions', { verdict: 'maybe' }],
  ['proposal_decisions_decider_check', 'proposal_decisions', { decider: '' }],
  ['proposal_decisions_reason_check', 'proposal_decisions', { reason: '' }],
  ['proposal_decisions_of_proposal', 'proposal_decisions', { digest: digest(2) }],
  ['proposal_decisions_of_proposal', 'proposal_decisions', { proposed_by: 2 }],
  ['proposal_decisions_of_proposal', 'proposal_decisions', { proposer_reset_by: 5 }],
  ['proposal_decisions_of_proposal', 'proposal_decisions', { expires_at: '2026-01-03T00:00:00Z' }],
  ['proposal_decisions_of_credential', 'proposal_decisions', { credential: 9 }],
  ['decisions_by_another', 'proposal_decisions', { decided_by: 1 }],
  ['decisions_by_another', 'proposal_decisions', { decided_by: 0, credential: 0 }],
  ['decisions_by_another', 'proposal_decisions', { decided_by: 1, verdict: 'declined' }],
  ['decisions_independent', 'proposal_decisions', { credential: 2, reset_by: 1 }],
  ['decisions_independent', 'proposal_decisions', { proposal_id: uuid(15), proposer_reset_by: 7 }],
  [
    'decisions_independent',
    'proposal_decisions',
    { proposal_id: uuid(16), proposer_reset_by: 5, credential: 3, reset_by: 5 },
  ],
  ['decisions_withdrawn_by_proposer', 'proposal_decisions', { verdict: 'withdrawn' }],
  ['decisions_in_time', 'proposal_decisions', { decided_at: '2026-01-02T00:00:00Z' }],
  ['decisions_in_time', 'proposal_decisions', { verdict: 'expired', decided_by: 0, credential: 0 }],
  ['proposal_effects_verdict_check', 'proposal_effects', { verdict: 'declined' }],
  ['proposal_effects_proposal_id_verdict_fkey', 'proposal_effects', { proposal_id: uuid(11) }],
  ['proposal_ends_verdict_check', 'proposal_ends', { verdict: 'declined' }],
  ['proposal_ends_proposal_id_verdict_fkey', 'proposal_ends', { proposal_id: uuid(11) }],
  ['proposal_ends_state_check', 'proposal_ends', { state: 'lost' }],
  ['proposal_ends_code_check', 'proposal_ends', { state: 'refused', code: '' }],
  ['proposal_ends_detail_check', 'proposal_ends', { detail: '' }],
  ['proposal_ends_problem', 'proposal_ends', { state: 'refused' }],
  ['proposal_answers_proposal_id_fkey', 'proposal_answers', { proposal_id: uuid(11) }],
  ['proposal_runs_n_check', 'proposal_runs', { n: 0 }],
  ['proposal_runs_proposal_id_fkey', 'proposal_runs', { proposal_id: uuid(99) }],
  ['approval_rules_action_check', 'approval_rules', { action: 'X' }],
  ['approval_rules_agent_id_check', 'approval_rules', { agent_id: -1 }],
  ['approval_rules_currency_check', 'approval_rules', { currency: 'thb', above: null }],
  ['approval_rules_above_check', 'approval_rules', { above: -1 }],
  ['approval_rules_updated_by_check', 'approval_rules', { updated_by: '' }],
  ['approval_rules_amount', 'approval_rules', { needs_two: false }],
  ['approval_rules_amount', 'approval_rules', { currency: '' }],
  ['agent_secrets_agent_id_fkey', 'agent_secrets', { agent_id: 99 }],
  ['agent_secrets_n_check', 'agent_secrets', { n: 0 }],
  ['agent_secrets_name_check', 'agent_secrets', { name: '' }],
  ['agent_secrets_created_by_check', 'agent_secrets', { created_by: '' }],
  ['agent_secrets_scopes', 'agent_secrets', { scopes: [] }],
  ['agent_secrets_scopes', 'agent_secrets', { scopes: ['admin'] }],
  ['agent_secrets_callback_alone', 'agent_secrets', { scopes: ['callback', 'read'] }],
  ['secret_addresses_agent_id_fkey', 'secret_addresses', { agent_id: 99 }],
  ['secret_addresses_secret_check', 'secret_addresses', { secret: 'x' }],
  ['secret_addresses_address_check', 'secret_addresses', { address: '' }],
  ['limit_rules_agent_id_check', 'limit_rules', { agent_id: -1 }],
  ['limit_rules_name_check', 'limit_rules', { name: 'X' }],
  ['limit_rules_kind_check', 'limit_rules', { kind: 'x', outcome: 'note' }],
  [
    'limit_rules_measure_check',
    'limit_rules',
    { measure: 'x', per: null, period: null, most: null, currency: null, field: 'name' },
  ],
  ['limit_rules_per_check', 'limit_rules', { per: 'x' }],
  ['limit_rules_period_check', 'limit_rules', { period: 'year' }],
  ['limit_rules_most_check', 'limit_rules', { most: -1 }],
  ['limit_rules_currency_check', 'limit_rules', { currency: 'thb' }],
  ['limit_rules_hours_check', 'limit_rules', { ...newAccount, hours: 0 }],
  [
    'limit_rules_field_check',
    'limit_rules',
    { ...newAccount, measure: 'blocked', outcome: 'note', hours: null, field: 'x' },
  ],
  ['limit_rules_outcome_check', 'limit_rules', { outcome: 'x' }],
  ['limit_rules_updated_by_check', 'limit_rules', { updated_by: '' }],
  ['limit_rules_shape', 'limit_rules', { currency: null }],
  ['limit_rules_shape', 'limit_rules', { measure: 'orders', currency: null, period: 'order' }],
  ['limit_rules_shape', 'limit_rules', { ...newAccount, outcome: 'refuse', hours: null }],
  ['limit_rules_wait', 'limit_rules', { ...newAccount, hours: null }],
  ['limit_rules_wait', 'limit_rules', { hours: 1 }],
  ['limit_rules_hold', 'limit_rules', { kind: 'deposit' }],
  ['limit_entries_agent_id_name_fkey', 'limit_entries', { name: 'other' }],
  ['limit_entries_value_check', 'limit_entries', { value: '' }],
  ['limit_counting_agent_id_check', 'limit_counting', { agent_id: 0 }],
  ['limit_counting_kind_check', 'limit_counting', { kind: 'x' }],
  ['limit_counting_per_check', 'limit_counting', { per: 'x' }],
  ['limit_uses_agent_id_check', 'limit_uses', { agent_id: 0 }],
  ['limit_uses_kind_check', 'limit_uses', { kind: 'x' }],
  ['limit_uses_per_check', 'limit_uses', { per: 'payee' }],
  ['limit_uses_subject_check', 'limit_uses', { subject: 'x'.repeat(301) }],
  ['limit_uses_amount_check', 'limit_uses', { amount: -1 }],
  ['limit_uses_orders_check', 'limit_uses', { orders: -1 }],
  ['limit_uses_quarter', 'limit_uses', { starts_at: '2026-01-01T00:01:00Z' }],
  ['limit_payees_agent_id_check', 'limit_payees', { agent_id: 0 }],
  ['limit_payees_account_check', 'limit_payees', { account: '' }],
  ['limit_checks_agent_id_check', 'limit_checks', { agent_id: 0 }],
  ['limit_checks_outcome_check', 'limit_checks', { outcome: 'refuse' }],
  ['limit_checks_words_check', 'limit_checks', { words: '' }],
  ['limit_checks_wait', 'limit_checks', { outcome: 'wait' }],
  ['stops_agent_id_check', 'stops', { agent_id: -1 }],
  ['stops_stopped_by_check', 'stops', { stopped_by: '' }],
  ['stops_reason_check', 'stops', { reason: '' }],
  ['alarms_raised_by_check', 'alarms', { raised_by: '' }],
  ['alarms_words_check', 'alarms', { words: '' }],
  ['alarm_acknowledgements_alarm_id_fkey', 'alarm_acknowledgements', { alarm_id: uuid(9) }],
  ['alarm_acknowledgements_user_id_fkey', 'alarm_acknowledgements', { user_id: 9 }],

  ['passkeys_credential_id_check', 'passkeys', { credential_id: 'a' }],
  ['passkeys_user_id_fkey', 'passkeys', { user_id: 9 }],
  ['passkeys_name_check', 'passkeys', { name: '' }],
  ['passkeys_public_key_check', 'passkeys', { public_key: '\\x00' }],
  ['passkeys_counter_check', 'passkeys', { counter: -1 }],
  ['passkey_challenges_challenge_check', 'passkey_challenges', { challenge: 'a' }],
  [
    'passkey_challenges_purpose_check',
    'passkey_challenges',
    { purpose: 'x', user_id: 1, session_id: uuid(1) },
  ],
  ['passkey_challenges_bound', 'passkey_challenges', { purpose: 'act' }],
  ['passkey_challenges_bound', 'passkey_challenges', { purpose: 'act', user_id: 1 }],
  [
    'passkey_challenges_user_id_fkey',
    'passkey_challenges',
    { purpose: 'act', user_id: 9, session_id: uuid(1) },
  ],
  [
    'passkey_challenges_session_id_fkey',
    'passkey_challenges',
    { purpose: 'act', user_id: 1, session_id: uuid(9) },
  ],
  ['passkey_proofs_token_hash_check', 'passkey_proofs', { token_hash: '\\x00' }],
  ['passkey_proofs_user_id_fkey', 'passkey_proofs', { user_id: 9 }],
  ['passkey_proofs_session_id_fkey', 'passkey_proofs', { session_id: uuid(9) }],
  ['oidc_sign_ins_token_hash_check', 'oidc_sign_ins', { token_hash: '\\x00' }],
  ['oidc_sign_ins_user_id_fkey', 'oidc_sign_ins', { user_id: 9 }],
  ['alerts_gathering', 'alerts', { subject: 'user 7' }],
  ['alerts_kind_check', 'alerts', { kind: 'weather' }],
  ['alerts_subject_check', 'alerts', { subject: '' }],
  ['alerts_user_id_fkey', 'alerts', { user_id: 9 }],
  ['alerts_roles_check', 'alerts', { roles: ['owner'], user_id: null }],
  ['alerts_somebody', 'alerts', { user_id: null }],
  ['alerts_agent_id_fkey', 'alerts', { agent_id: 99 }],
  ['alerts_except_user_id_check', 'alerts', { except_user_id: -1 }],
  ['alerts_words_check', 'alerts', { words: '' }],
  ['alerts_count_check', 'alerts', { count: 0 }],
  ['alerts_times', 'alerts', { first_at: '2027-01-01T00:00:00Z' }],
  ['alert_deliveries_alert_id_fkey', 'alert_deliveries', { alert_id: uuid(9) }],
  ['alert_deliveries_user_id_fkey', 'alert_deliveries', { user_id: 9 }],
  ['alert_deliveries_channel_check', 'alert_deliveries', { channel: 'pigeon' }],
  [
    'alert_deliveries_state_check',
    'alert_deliveries',
    { state: 'lost', due_at: null, ended_at: at },
  ],
  ['alert_deliveries_attempts_check', 'alert_deliveries', { attempts: -1 }],
  ['alert_deliveries_error_check', 'alert_deliveries', { error: '' }],
  ['alert_deliveries_due', 'alert_deliveries', { due_at: null }],
  ['alert_deliveries_ended', 'alert_deliveries', { ended_at: at }],
  ['alert_channels_user_id_fkey', 'alert_channels', { user_id: 9 }],
  ['alert_channels_channel_check', 'alert_channels', { channel: 'mail' }],
  ['alert_channels_target_check', 'alert_channels', { target: '' }],
  ['alert_channels_signed', 'alert_channels', { channel: 'webhook' }],
  ['alert_choices_user_id_fkey', 'alert_choices', { user_id: 9 }],
  ['alert_choices_kind_check', 'alert_choices', { kind: 'new_secret' }],
  ['alert_choices_channels_check', 'alert_choices', { channels: ['pigeon'] }],
  ['alert_watch_kind_check', 'alert_watch', { kind: '' }],
  ['alert_watch_subject_check', 'alert_watch', { subject: '' }],

  ['users_pkey', 'users', { user_id: 1 }],
  ['users_email_key', 'users', { email: 'one@sluice.example' }],
  ['users_user_id_check', 'users', { user_id: 0 }],
  ['users_email_check', 'users', { email: 'Two@sluice.example' }],
  ['users_email_check', 'users', { email: 'two' }],
  ['users_email_check', 'users', { email: 'two three@sluice.example' }],
  ['users_email_check', 'users', { email: `${'x'.repeat(250)}@a.io` }],
  ['users_role_check', 'users', { role: 'owner' }],
  ['users_agent_id_fkey', 'users', { role: 'agent', agent_id: 99 }],
  ['users_agent_of_role', 'users', { role: 'agent' }],
  ['users_agent_of_role', 'users', { role: 'admin', agent_id: 1 }],
  ['users_password_hash_check', 'users', { password_hash: 'plain', sealed_totp_secret: '\\x00' }],
  ['users_both_factors', 'users', { password_hash: '$argon2id$x' }],
  ['users_oidc', 'users', { oidc_issuer: 'https://id.example' }],
  ['users_oidc', 'users', { oidc_subject: 'one' }],
  ['users_oidc_key', 'users', { oidc_issuer: 'https://id.example', oidc_subject: 'zero' }],
  ['users_oidc', 'users', { oidc_issuer: 'https://id.example', oidc_subject: '' }],
  [
    'users_oidc_of_the_house',
    'users',
    { oidc_issuer: 'https://id.example', oidc_subject: 'one', role: 'agent', agent_id: 1 },
  ],
  [
    'users_oidc_of_the_house',
    'users',
    {
      oidc_issuer: 'https://id.example',
      oidc_subject: 'one',
      password_hash: '$argon2id$x',
      sealed_totp_secret: '\\x00',
    },
  ],
  ['users_code_failures_check', 'users', { code_failures: -1 }],
  ['users_device_failures_check', 'users', { device_failures: -1 }],
  ['users_both_factors', 'users', { sealed_totp_secret: '\\x00' }],

  ['sessions_pkey', 'sessions', { session_id: uuid(1) }],
  ['sessions_token_hash_key', 'sessions', { token_hash: digest(1) }],
  ['sessions_user_id_fkey', 'sessions', { user_id: 99 }],
  ['sessions_token_hash_check', 'sessions', { token_hash: '\\x00' }],
  ['sessions_user_agent_check', 'sessions', { user_agent: 'x'.repeat(257) }],

  ['invitations_user_id_fkey', 'invitations', { user_id: 99 }],
  ['invitations_token_hash_check', 'invitations', { token_hash: '\\x00' }],
  ['invitations_expire_later', 'invitations', { expires_at: at }],
  ['invitations_browser_hash_check', 'invitations', { browser_hash: '\\x00' }],
  ['invitations_opened', 'invitations', { browser_hash: digest(3), sealed_totp_secret: null }],

  ['audit_log_user_id_fkey', 'audit_log', { user_id: 99 }],
  ['audit_log_action_check', 'audit_log', { action: 'Void order' }],
  ['audit_log_subject_kind_check', 'audit_log', { subject_kind: '' }],
  ['audit_log_subject_id_check', 'audit_log', { subject_id: '' }],
  ['audit_log_outcome_check', 'audit_log', { outcome: 'perhaps' }],
  ['audit_log_chained', 'audit_log', { hash: null }],
  ['audit_log_chained', 'audit_log', { lane: null }],
  ['audit_log_chained', 'audit_log', { lane_seq: 0 }],
  ['audit_log_of_lane', 'audit_log', { lane_seq: 1 }],
  ['audit_log_reason_check', 'audit_log', { reason: '' }],

  ['proofs_agent_id_fkey', 'proofs', { agent_id: 3 }],
  ['proofs_proved_seq_check', 'proofs', { proved_seq: -1 }],
  ['proofs_again_seq_check', 'proofs', { again_seq: -1 }],

  ['limit_buckets_bucket_check', 'limit_buckets', { bucket: '' }],
  ['limit_buckets_bucket_check', 'limit_buckets', { bucket: 'x'.repeat(201) }],
  ['limit_buckets_tokens_check', 'limit_buckets', { tokens: -1 }],
  ['limit_buckets_granted_check', 'limit_buckets', { granted: -1 }],
]

/** Keys that need the good row to be there already. */
const doubled: [constraint: string, table: string][] = [
  ['callbacks_pkey', 'callbacks'],
  ['callback_attempts_pkey', 'callback_attempts'],
  ['callback_bodies_pkey', 'callback_bodies'],
  ['attempt_prunings_pkey', 'attempt_prunings'],
  ['proofs_pkey', 'proofs'],
  ['deployment_pkey', 'deployment'],
  ['providers_pkey', 'providers'],
  ['provider_routes_pkey', 'provider_routes'],
  ['open_items_pkey', 'open_items'],
  ['notice_events_pkey', 'notice_events'],
  ['notices_pkey', 'notices'],
  ['payment_claims_pkey', 'payment_claims'],
  ['payout_references_pkey', 'payout_references'],
  ['unmatched_payments_pkey', 'unmatched_payments'],
  ['clearings_pkey', 'clearings'],
  ['payment_notes_pkey', 'payment_notes'],
  ['invitations_pkey', 'invitations'],
  ['audit_log_pkey', 'audit_log'],
  ['limit_buckets_pkey', 'limit_buckets'],
  ['user_credentials_pkey', 'user_credentials'],
  ['proposals_pkey', 'proposals'],
  ['proposal_effects_pkey', 'proposal_effects'],
  ['proposal_ends_pkey', 'proposal_ends'],
  ['proposal_answers_pkey', 'proposal_answers'],
  ['proposal_runs_pkey', 'proposal_runs'],
  ['approval_rules_pkey', 'approval_rules'],
  ['alarms_pkey', 'alarms'],
  ['stops_pkey', 'stops'],
  ['agent_secrets_pkey', 'agent_secrets'],
  ['secret_addresses_pkey', 'secret_addresses'],
  ['limit_rules_pkey', 'limit_rules'],
  ['limit_entries_pkey', 'limit_entries'],
  ['limit_counting_pkey', 'limit_counting'],
  ['limit_uses_pkey', 'limit_uses'],
  ['limit_payees_pkey', 'limit_payees'],
  ['limit_checks_pkey', 'limit_checks'],
  ['alarm_acknowledgements_pkey', 'alarm_acknowledgements'],
  ['passkeys_pkey', 'passkeys'],
  ['passkey_challenges_pkey', 'passkey_challenges'],
  ['passkey_proofs_pkey', 'passkey_proofs'],
  ['oidc_sign_ins_pkey', 'oidc_sign_ins'],
  ['alerts_pkey', 'alerts'],
  ['alert_deliveries_pkey', 'alert_deliveries'],
  ['alert_channels_pkey', 'alert_channels'],
  ['alert_choices_pkey', 'alert_choices'],
  ['alert_watch_pkey', 'alert_watch'],
  ...connectorsDoubled,
]

/** The service has no right to write it at all. */
const ownersOnly: [constraint: string, table: string][] = [
  ['schema_migrations_pkey', 'schema_migrations'],
]

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  client = new pg.Client({ connectionString: database.ownerUrl, options: '-c search_path=sluice' })
  await client.connect()
  await client.query('begin')
  await client.query(`set local role ${serviceRole}`)
  for (const [table, fields] of present) await insert(table, fields)
  await client.query('savepoint present')
})
afterEach(async () => {
  await client.query('rollback to savepoint present')
})
afterAll(async () => {
  await client.end()
  await database.close()
})

/** The same for tables that only the owner writes; each after its good row. */
const ownersCases: [constraint: string, table: string, spoiled: Fields][] = [
  ['archive_parts_pkey', 'archive_parts', { from_seq: 3, to_seq: 3 }],
  ['archive_parts_agent_id_from_seq_key', 'archive_parts', { part: 3 }],
  ['archive_parts_agent_id_fkey', 'archive_parts', { agent_id: 99 }],
  ['archive_parts_part_check', 'archive_parts', { part: 0 }],
  ['archive_parts_from_seq_check', 'archive_parts', { from_seq: 0 }],
  ['archive_parts_held_check', 'archive_parts', { held: -1, clearing: 1 }],
  ['archive_parts_name_check', 'archive_parts', { name: '' }],
  ['archive_parts_sha256_check', 'archive_parts', { sha256: '0' }],
  ['archive_parts_orders_check', 'archive_parts', { orders: -1, removed_orders: -1 }],
  ['archive_parts_removed_orders_check', 'archive_parts', { removed_orders: -1 }],
  ['archive_parts_state_check', 'archive_parts', { state: 'lost' }],
  ['archive_parts_goes_on', 'archive_parts', { to_seq: 1 }],
  ['archive_parts_goes_on', 'archive_parts', { part: 1 }],
  ['archive_parts_balance', 'archive_parts', { available: 1 }],
  ['archive_parts_chained', 'archive_parts', { hash: 'abc' }],
  ['audit_lanes_pkey', 'audit_lanes', {}],
  ['audit_lanes_lane_check', 'audit_lanes', { lane: -1 }],
  ['audit_lanes_seq_check', 'audit_lanes', { lane: 97, seq: -1 }],
  ['audit_lanes_hash_check', 'audit_lanes', { lane: 97, hash: '' }],
  ['archive_parts_removed', 'archive_parts', { removed_orders: 2 }],
  ['archived_refs_pkey', 'archived_refs', { order_id: uuid(8) }],
  ['archived_refs_agent_id_order_id_key', 'archived_refs', { ref_id: 'ref-8' }],
  ['archived_refs_ref_id_check', 'archived_refs', { ref_id: '' }],
  ['archived_refs_part_check', 'archived_refs', { part: 0 }],
  ['archived_keys_pkey', 'archived_keys', {}],
  ['archived_keys_once_key_check', 'archived_keys', { once_key: '' }],
]
const ownersTables = [...ownersOnly, ...ownersCases].map(([, table]) => table)

it('every constraint and unique index has a case here', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select conname as name from pg_constraint join pg_class t on t.oid = conrelid
     where connamespace = 'sluice'::regnamespace and contype in ('c', 'u', 'f', 'p', 'x')
       and not t.relispartition
     union
     select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = 'sluice'::regnamespace and i.indisunique and not c.relispartition
     order by name`,
  )
  const all = [...cases, ...doubled, ...ownersOnly, ...ownersCases]
  // Foreign keys need them; the primary key refuses first.
  const forOthers = [
    'bank_files_brought',
    'bank_files_bringer',
    'user_credentials_as_used',
    'proposals_as_shown',
    'proposal_decisions_as_decided',
    ...payoutFileKeys,
    ...connectorKeys,
  ]
  const named = new Set([...forOthers, ...all.map(([constraint]) => constraint)])
  expect([...named].sort()).toEqual(rows.map(({ name }) => name).sort())
})

describe('as the role of the service', () => {
  it.each(cases)('%s refuses in %s: %o', async (constraint, table, spoiled) => {
    await expect(insert(table, spoiled)).rejects.toMatchObject({ constraint })
  })

  it.each(doubled)('%s refuses the same row twice in %s', async (constraint, table) => {
    await insert(table)
    const refused = await insert(table).catch((error) => error)
    // A partition has the table's key under a name of its own.
    expect(refused.constraint?.replace(/_default_pkey$|_by_start$/, '_pkey')).toBe(constraint)
  })

  it.each(Object.keys(good).filter((table) => !ownersTables.includes(table)))(
    'the row of %s that the cases spoil is good',
    async (table) => {
      await insert(table)
    },
  )

  it('a balance may be as large as the bound, and below zero by the right events', async () => {
    await insert('wallets', { available: bound, clearing: `-${bound}` })
    const taken = { available_change: -1, clearing_change: 1, ...negative }
    await insert('journal', { ...taken, event: 'deposit_taken_back', once_key: null })
    await insert('journal', { ...taken, ...adjustment, seq: 4 })
    // Coming back up is no way down.
    await insert('journal', { ...negative, seq: 5, once_key: 'payment:4' })
  })
})

it.each(ownersOnly)('%s refuses the same row twice in %s', async (constraint, table) => {
  await client.query('reset role')
  await insert(table)
  await expect(insert(table)).rejects.toMatchObject({ constraint })
})

it.each(ownersCases)('%s refuses in %s: %o', async (constraint, table, spoiled) => {
  await client.query('reset role')
  await insert(table)
  await expect(insert(table, spoiled)).rejects.toMatchObject({ constraint })
})

it.each([...new Set(ownersTables)])('the service may not write %s', async (table) => {
  await expect(insert(table)).rejects.toMatchObject({ code: '42501' })
})

describe('what is written down stays so, by privilege', () => {
  const fixed: Record<string, string> = {
    journal: `agent_id, seq, order_id, event, at, available_change, held_change, clearing_change,
      fees_change, adjustments_change, available, held, clearing, fees, adjustments, once_key, reason,
      currency, suspense_change, costs_change, differences_change, transfers_change, suspense, costs,
      differences, transfers, clearing_at, clearing_there, reserve_change, reserve, hash`,
    orders: `agent_id, order_id, kind, ref_id, refund_of, user_id, currency, amount, fee, fee_rule, late_money,
      reserve_rule, revert_fee, account_name, account_no, bank_code, extra_params, created_at, expires_at`,
    callbacks: 'agent_id, seq, order_id, kind, follows, body, created_at',
    callback_bodies: 'agent_id, seq, created_at, body',
    payments: `agent_id, payment_id, amount, paid_at, reported_at, payer_account_no,
      payer_account_name, payer_bank_code, received_seq`,
    payouts: 'agent_id, order_id, attempt, provider, reference, version, use, token, handed_at',
    notice_events: 'agent_id, provider, event_id, received_at, body, order_id, notice_id, event',
    notices: 'notice_id, provider, received_at, body',
    payment_claims: 'payment_id, amount, currency, claimed_at',
    payout_references: 'reference, agent_id, order_id, attempt',
    payment_notes: 'payment_id, note_no, at, author, assigns, assignee, note',
    unmatched_payments: `payment_id, reference, amount, currency, paid_at, reported_at,
      payer_account_no, payer_account_name, payer_bank_code, why, contradicts,
      received_seq`,
    users: 'user_id, email, created_at',
    sessions: 'session_id, user_id, token_hash, ip, user_agent, created_at',
    invitations: 'token_hash, user_id, created_at, expires_at',
    user_credentials: 'user_id, n, reset_by, made_at',
    proposals: `proposal_id, action, subject_kind, subject_id, agent_id, amount, currency, route, input, before,
      after, permission, admin_only, digest, proposed_by, proposer, credential, proposer_reset_by, session_id, ip,
      reason, proposed_at, expires_at`,
    proposal_decisions: `proposal_id, digest, proposed_by, proposer_reset_by, expires_at, verdict, decided_by,
      decider, credential, reset_by, session_id, ip, reason, decided_at`,
    proposal_effects: 'proposal_id, verdict, at',
    proposal_ends: 'proposal_id, verdict, state, code, detail, at',
    deployment: 'only_one, mode, taken_at',
    audit_log: `audit_id, at, user_id, email, role, session_id, ip, action, subject_kind, subject_id,
      agent_id, outcome, before, after, reason, lane, lane_seq, hash`,
    audit_lanes: 'lane',
    wallets: 'agent_id, currency',
    clearings: 'agent_id, provider',
    agents: 'agent_id, app_id, currency, created_at',
    limit_buckets: 'bucket',
    agent_secrets: `agent_id, n, name, scopes, allowed_ips, sealed_secret, created_at, created_by`,
    secret_addresses: 'agent_id, secret, address, first_used_at',
    alerts: 'alert_id, kind, subject, user_id, roles, agent_id, except_user_id, first_at',
    passkeys: 'credential_id, user_id, name, public_key, created_at',
    passkey_challenges: 'challenge, purpose, user_id, session_id, expires_at',
    passkey_proofs: 'token_hash, user_id, session_id, expires_at',
    alert_deliveries: 'alert_id, user_id, channel',
    alert_channels: 'user_id, channel',
    alert_choices: 'user_id, kind',
    alert_watch: 'kind, subject, since',
    limit_rules: 'agent_id, name',
    limit_entries: 'agent_id, name, value',
    limit_counting: 'agent_id, kind, per',
    limit_uses: 'agent_id, kind, per, subject, starts_at',
    limit_payees: 'agent_id, account, order_id',
    limit_checks: 'agent_id, order_id, outcome, wait_until, words, at',
    schema_migrations: 'name, sha256, applied_at',
    archive_parts: `agent_id, part, from_seq, to_seq, available, held, clearing, fees, adjustments,
      ended_at, name, sha256, orders, removed_orders, state, made_at, suspense, costs, differences,
      transfers, clearings, reserve, hash`,
    archived_refs: 'agent_id, ref_id, order_id, part',
    archived_keys: 'agent_id, once_key',
    bank_file_confirmations: `account, file_id, brought_by, confirmed_by, confirmed_at, movements,
      amount, bringer_user_id, bringer_reset_by, confirmer_user_id, confirmer_credential,
      confirmer_reset_by`,
    bank_day_signoffs: `account, day, signoff_no, signed_by, signed_at, state, shown, movements,
      reason`,
    ...payoutFilesFixed,
    ...connectorsFixed,
    bank_files: `account, file_id, sha256, name, size, bytes, via, brought_by, received_at,
      bringer_user_id, bringer_credential, bringer_reset_by`,
  }
  const columns = Object.entries(fixed).flatMap(([table, names]) =>
    names.split(/,\s*/).map((column) => [table, column] as const),
  )

  it.each(columns)('%s.%s cannot be updated', async (table, column) => {
    const update = client.query(`update ${table} set ${column} = ${column}`)
    await expect(update).rejects.toMatchObject({ code: '42501' })
  })

  it.each(['journal', 'audit_log'])('%s has no column that could be', async (table) => {
    const { rows } = await client.query<{ attname: string }>(
      `select attname from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [table],
    )
    expect(rows.map(({ attname }) => attname)).toEqual(fixed[table]?.split(/,\s*/))
  })

  it.each(['delete from', 'truncate'])('nothing can be taken away with %s', async (verb) => {
    const { rows } = await client.query<{ relname: string }>(
      `select relname from pg_class
       where relnamespace = 'sluice'::regnamespace and relkind in ('r', 'p')`,
    )
    expect(rows.map(({ relname }) => relname)).toEqual(
      expect.arrayContaining(['journal', 'orders', 'callbacks', 'payments', 'wallets', 'agents']),
    )
    // Old attempts are forgotten after a time that is set, full buckets and secrets that were shown too; routes and
    // rules are the operator's to remove.
    const removable = [
      'callback_attempts',
      'callback_claims',
      'provider_routes',
      'limit_buckets',
      'proposal_answers',
      'approval_rules',
      'stops',
      'limit_rules',
      'limit_entries',
      'limit_counting',
      'limit_uses',
      'limit_payees',
      'passkeys',
      'passkey_challenges',
      'passkey_proofs',
      'oidc_sign_ins',
      'alerts',
      'alert_deliveries',
      'alert_channels',
      'alert_watch',
      'connector_deposits',
      'connector_deposit_ids',
      'line_sources',
    ]
    const kept = rows.filter(
      ({ relname }) => !(verb === 'delete from' && removable.includes(relname)),
    )
    for (const { relname } of kept) {
      await client.query('savepoint before')
      await expect(client.query(`${verb} ${relname}`), relname).rejects.toMatchObject({
        code: '42501',
      })
      await client.query('rollback to savepoint before')
    }
  })

  it('what an order goes through can be updated', async () => {
    const { rowCount } = await client.query(
      `update orders set status = 'FAILED', version = 2, completed_at = created_at`,
    )
    expect(rowCount).toBe(1)
  })
})

it('agents and books may have the currencies that the service knows, and no others', async () => {
  const checks = await checksOfCurrencies()
  for (const place of ['agents.currency', 'wallets.currency']) {
    const check = checks.find((each) => each.place === place)?.check ?? ''
    const allowed = [...check.matchAll(/'(\w+)'::text/g)].map(([, code]) => code)
    expect([...new Set(allowed)].sort(), place).toEqual([...currencies].sort())
  }
})

it('every other currency is three capitals', async () => {
  const checks = await checksOfCurrencies()
  const others = checks.filter(({ place }) => !/^(agents|wallets)\./.test(place))
  expect(others.length).toBeGreaterThan(8)
  for (const { place, check } of others) expect(check, place).toContain("~ '^[A-Z]{3}$'::text")
})

it('the house has a book in every currency, whose number the service knows', async () => {
  const { rows } = await client.query<{ agent_id: string; currency: string }>(
    'select agent_id, currency from wallets where agent_id < 0 order by agent_id desc',
  )
  expect(rows.map(({ agent_id, currency }) => ({ agentId: BigInt(agent_id), currency }))).toEqual(
    allHouseBooks,
  )
})

async function checksOfCurrencies(): Promise<{ place: string; check: string | null }[]> {
  const { rows } = await client.query<{ place: string; check: string | null }>(
    `select format('%s.%s', c.oid::regclass, a.attname) as place, pg_get_constraintdef(k.oid) as check
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'currency'
     left join pg_constraint k on k.conrelid = c.oid and k.contype = 'c' and a.attnum = any(k.conkey)
     where c.relnamespace::regnamespace::text in ('sluice', 'sandbox_bank') and c.relkind = 'r'`,
  )
  return rows
}

/** One minor unit more than the bound, in each of the accounts. */
function beyond(accounts: readonly string[]): Fields[] {
  return accounts.map((account) => {
    const isAgents = ['available', 'held', 'reserve'].includes(account)
    const over = isAgents ? '9007199254740992' : '576460752303423489'
    return { available: 0, clearing: `-${over}`, [account]: over }
  })
}

function paid(): Fields {
  return { paid_amount: 100, paid_fee: 0 }
}

/** Inserts the good row of a table with some of its fields changed. */
async function insert(table: string, fields: Fields = {}): Promise<void> {
  const row = { ...good[table], ...fields }
  const columns = Object.keys(row).join(', ')
  await client.query(
    `insert into ${table} (${columns})
     select ${columns} from json_populate_record(null::${table}, $1)`,
    [JSON.stringify(row)],
  )
}
