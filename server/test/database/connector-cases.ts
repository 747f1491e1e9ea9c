/** Rows of connectors for constraints.test.ts: good ones, those that are there, and what spoils them. */

type Fields = Record<string, unknown>

const at = '2026-01-01T00:00:00Z'
const by = 'one@sluice.example'
const sha = (digit: string) => digit.repeat(64)

/** A good row of each table of connectors. */
export const connectorRows: Record<string, Fields> = {
  connectors: { name: 'newpay', created_at: at, created_by: by },
  connector_versions: {
    connector: 'oldpay',
    version: 2,
    document: '{}',
    sha256: sha('b'),
    added_at: at,
    added_by: by,
  },
  connector_secrets: {
    connector: 'oldpay',
    secret: 'api',
    n: 1,
    sealed: '\\x00',
    added_at: at,
    added_by: by,
  },
  connector_runs: {
    connector: 'oldpay',
    version: 1,
    n: 3,
    samples: '{}',
    passed: true,
    results: '{}',
    ran_at: at,
    ran_by: by,
  },
  connector_uses: {
    connector: 'oldpay',
    n: 2,
    version: 1,
    run: 1,
    passed: true,
    same_since: 1,
    former_void: false,
    used_at: at,
    used_by: by,
  },
  connector_deposits: {
    agent_id: 1,
    order_id: '0'.repeat(31).concat('1'),
    connector: 'oldpay',
    use: 1,
    version: 1,
    made_at: at,
    asks: 0,
  },
  connector_use_secrets: { connector: 'oldpay', n: 1, secret: 'hook', secret_n: 1 },
  connector_deposit_ids: {
    agent_id: 1,
    order_id: '0'.repeat(31).concat('2'),
    connector: 'oldpay',
    their_id: 'pi_1',
  },
  line_sources: { account: 'scb', connector: null },
  connector_token_days: { connector: 'oldpay', currency: 'THB', day: '2026-01-01', believed: 1 },
  deposit_codes: { code: 'DX0000000000A', agent_id: 1, order_id: '0'.repeat(31).concat('1') },
  connector_figures: {
    connector: 'oldpay',
    process: '00000000-0000-4000-8000-000000000001',
    calls: 2,
    failures: 1,
    not_called: 0,
    under_way: 0,
    state: 'open',
    last_fault: 'answers that it fails',
    last_fault_at: at,
    told_at: at,
  },
  payout_ids: {
    provider: 'oldpay',
    their_id: 'po_1',
    agent_id: 1,
    order_id: '0'.repeat(31).concat('1'),
    attempt: 1,
  },
}

/** A connector with a version, one run that passed and one that did not. */
export const connectorsPresent: [table: string, fields: Fields][] = [
  ['connectors', { name: 'oldpay' }],
  ['connector_versions', { version: 1, sha256: sha('a') }],
  ['connector_runs', { n: 1 }],
  ['connector_runs', { n: 2, passed: false }],
  ['connector_uses', { n: 1 }],
  ['connector_secrets', { secret: 'hook' }],
  ['connector_deposits', { order_id: '0'.repeat(31).concat('2') }],
]

export const connectorCases: [constraint: string, table: string, spoiled: Fields][] = [
  ['connectors_name_check', 'connectors', { name: 'Old' }],
  ['connectors_created_by_check', 'connectors', { created_by: '' }],
  ['connector_versions_connector_fkey', 'connector_versions', { connector: 'nobody' }],
  ['connector_versions_version_check', 'connector_versions', { version: 0 }],
  ['connector_versions_document_check', 'connector_versions', { document: '' }],
  ['connector_versions_sha256_check', 'connector_versions', { sha256: 'x' }],
  ['connector_versions_added_by_check', 'connector_versions', { added_by: '' }],
  ['connector_versions_once', 'connector_versions', { sha256: sha('a') }],
  ['connector_secrets_connector_fkey', 'connector_secrets', { connector: 'nobody' }],
  ['connector_secrets_secret_check', 'connector_secrets', { secret: 'A b' }],
  ['connector_secrets_n_check', 'connector_secrets', { n: 0 }],
  ['connector_secrets_sealed_check', 'connector_secrets', { sealed: `\\x${'00'.repeat(16385)}` }],
  ['connector_secrets_added_by_check', 'connector_secrets', { added_by: '' }],
  ['connector_runs_connector_version_fkey', 'connector_runs', { version: 9 }],
  ['connector_runs_n_check', 'connector_runs', { n: 0 }],
  ['connector_runs_samples_check', 'connector_runs', { samples: '' }],
  ['connector_runs_results_check', 'connector_runs', { results: '' }],
  ['connector_runs_ran_by_check', 'connector_runs', { ran_by: '' }],
  ['connector_uses_connector_fkey', 'connector_uses', { connector: 'nobody' }],
  ['connector_uses_n_check', 'connector_uses', { n: 0 }],
  ['connector_uses_same_since', 'connector_uses', { same_since: 3 }],
  ['connector_use_secrets_connector_n_fkey', 'connector_use_secrets', { n: 9 }],
  // Only a secret that is there can be used.
  [
    'connector_use_secrets_connector_secret_secret_n_fkey',
    'connector_use_secrets',
    { secret_n: 9 },
  ],
  ['connector_uses_used_by_check', 'connector_uses', { used_by: '' }],
  // A run that did not pass cannot be said to have passed.
  ['connector_uses_passed', 'connector_uses', { run: 2, passed: false }],
  ['connector_uses_connector_version_run_passed_fkey', 'connector_uses', { run: 2 }],
  ['connector_deposits_agent_id_check', 'connector_deposits', { agent_id: 0 }],
  ['connector_deposits_connector_use_version_fkey', 'connector_deposits', { version: 2 }],
  ['connector_deposits_asks_check', 'connector_deposits', { asks: -1 }],
  ['connector_deposits_every_s_check', 'connector_deposits', { every_s: 0 }],
  ['connector_deposits_code_check', 'connector_deposits', { code: 'SX0000000000A' }],
  ['connector_deposits_calls_check', 'connector_deposits', { calls: 0 }],
  ['connector_deposit_ids_their_id_check', 'connector_deposit_ids', { their_id: '' }],
  [
    'connector_deposit_ids_agent_id_order_id_connector_fkey',
    'connector_deposit_ids',
    { connector: 'nobody' },
  ],
  ['line_sources_account_fkey', 'line_sources', { account: 'nobody' }],
  ['line_sources_connector_fkey', 'line_sources', { connector: 'nobody' }],
  ['connector_token_days_connector_fkey', 'connector_token_days', { connector: 'nobody' }],
  ['connector_token_days_currency_check', 'connector_token_days', { currency: 'BAHT' }],
  ['connector_token_days_believed_check', 'connector_token_days', { believed: 0 }],
  ['deposit_codes_code_check', 'deposit_codes', { code: 'DX0' }],
  ['deposit_codes_agent_id_check', 'deposit_codes', { agent_id: 0 }],
  ['connector_figures_connector_fkey', 'connector_figures', { connector: 'nobody' }],
  ['connector_figures_calls_check', 'connector_figures', { calls: -1 }],
  ['connector_figures_failures_check', 'connector_figures', { failures: -1 }],
  ['connector_figures_not_called_check', 'connector_figures', { not_called: -1 }],
  ['connector_figures_under_way_check', 'connector_figures', { under_way: -1 }],
  ['connector_figures_state_check', 'connector_figures', { state: 'shut' }],
  ['connector_figures_last_fault_check', 'connector_figures', { last_fault: 'x'.repeat(301) }],
  ['connector_figures_last_fault', 'connector_figures', { last_fault_at: null }],
  ['payout_ids_provider_check', 'payout_ids', { provider: '' }],
  ['payout_ids_their_id_check', 'payout_ids', { their_id: '' }],
  ['payout_ids_agent_id_check', 'payout_ids', { agent_id: 0 }],
  ['payout_ids_attempt_check', 'payout_ids', { attempt: 0 }],
  ['payout_ids_same_since_check', 'payout_ids', { same_since: -1 }],
  ['payouts_version', 'payouts', { version: 1 }],
  // What it was handed over with is there.
  ['payouts_use', 'payouts', { provider: 'oldpay', version: 1, use: 9 }],
  ['payouts_their_id', 'payouts', { their_id: '' }],
]

export const connectorsDoubled: [constraint: string, table: string][] = [
  ['connectors_pkey', 'connectors'],
  ['connector_versions_pkey', 'connector_versions'],
  ['connector_secrets_pkey', 'connector_secrets'],
  ['deposit_codes_pkey', 'deposit_codes'],
  ['connector_figures_pkey', 'connector_figures'],
  ['connector_runs_pkey', 'connector_runs'],
  ['connector_uses_pkey', 'connector_uses'],
  ['connector_use_secrets_pkey', 'connector_use_secrets'],
  ['connector_deposits_pkey', 'connector_deposits'],
  ['connector_deposit_ids_pkey', 'connector_deposit_ids'],
  ['line_sources_pkey', 'line_sources'],
  ['connector_token_days_pkey', 'connector_token_days'],
  ['payout_ids_pkey', 'payout_ids'],
]

/** Foreign keys need them; the primary key refuses first. */
export const connectorKeys = ['connector_runs_as_ran', 'connector_uses_as_used']

/** Columns that the service cannot change. */
export const connectorsFixed: Record<string, string> = {
  connectors: 'name, created_at, created_by',
  connector_versions: 'connector, version, document, sha256, added_at, added_by',
  connector_secrets: 'connector, secret, n, sealed, added_at, added_by',
  connector_runs: 'connector, version, n, samples, passed, results, ran_at, ran_by',
  connector_uses: `connector, n, version, run, passed, same_since, former_void, used_at,
    used_by`,
  connector_use_secrets: 'connector, n, secret, secret_n',
  connector_deposits: 'agent_id, order_id, connector, use, version, code, made_at',
  deposit_codes: 'code, agent_id, order_id',
  connector_figures: 'connector, process',
  connector_deposit_ids: 'agent_id, order_id, connector, their_id',
  line_sources: 'account, connector',
  connector_token_days: 'connector, currency, day',
  payout_ids: 'provider, their_id, same_since, agent_id, order_id, attempt',
}
