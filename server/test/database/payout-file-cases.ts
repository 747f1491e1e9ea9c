/** Rows of payout files for constraints.test.ts: good ones, those that are there, and what spoils them. */

type Fields = Record<string, unknown>

const at = '2026-01-01T00:00:00Z'
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const hex = (n: number) => uuid(n).replaceAll('-', '')
const account = 'scb'
const digest = 'a'.repeat(64)
const people = { made_by: 1, maker_reset_by: 0 }
const approved = { made_by: 1, approved_by: 2, approver_reset_by: 0 }
const line = { agent_id: 1, order_id: uuid(3), attempt: 1, amount: 100 }

export const goodPayoutFiles: Record<string, Fields> = {
  payout_files: {
    ...{ account, file_id: uuid(3), state: 'draft', round: 1, format: 'csv' },
    ...{ debtor_name: 'Us', debtor_account_no: '1234567890', debtor_bank: 'SCB', currency: 'THB' },
    ...{ ...people, maker: 'one@sluice.example', made_at: at },
  },
  payout_file_lines: {
    ...{ account, file_id: uuid(1), n: 3, ...line },
    ...{ payee_name: 'A', payee_account_no: '1234', payee_bank: 'SCB' },
  },
  payout_file_lists: {
    ...{ account, file_id: uuid(1), round: 3, digest, items: 1, amount: 100 },
    ...{ ...people, listed_at: at },
  },
  payout_file_approvals: {
    ...{ account, file_id: uuid(1), round: 2, digest, ...people },
    ...{ approved_by: 2, approver: 'two@sluice.example', reset_by: 0, approved_at: at },
  },
  payout_items: {
    ...{ account, file_id: uuid(1), n: 2, ...line, order_id: uuid(2) },
    ...{ reference: 'SX00000000002', state: 'waiting' },
  },
  payout_file_seals: {
    ...{ account, file_id: uuid(2), round: 1, digest, message_id: 'SX2', name: 'two.xml' },
    ...{ content_type: 'application/xml', sealed_at: at, execution_date: '2026-01-02' },
    ...{ items: 1, amount: 100, sha256: digest, bytes: '\\x00' },
  },
  payout_file_downloads: {
    ...{ account, file_id: uuid(1), n: 2, round: 1, ...approved, downloaded_by: 2, reset_by: 0 },
    ...{ downloader: 'two@sluice.example', reason: 'it was lost', at, mode: null },
  },
  payout_file_sendings: {
    ...{ account, file_id: uuid(1), first: 1, downloaded_by: 2, round: 1, ...approved },
    ...{ sent_by: 3, reset_by: 0, sender: 'three@sluice.example', bank_reference: 'B1', at },
    downloader_reset_by: null,
  },
  payout_file_reports: {
    ...{ account, file_id: uuid(1), report_id: uuid(2), sha256: 'b'.repeat(64), bytes: '\\x00' },
    ...{ brought_by: 1, bringer: 'one@sluice.example', at, breaks: '[]' },
  },
  payout_file_reseals: {
    ...{ account, file_id: uuid(4), round: 2, asked_by: 1, asker: 'one@sluice.example' },
    ...{ reason: 'its day was over', at },
  },
  payout_item_ends: {
    ...{ account, file_id: uuid(1), n: 4, how: 'taken_out', round: 1, may_try_another: true },
    ...{ proposal_id: uuid(13), verdict: 'approved', reason: 'a wrong payee', at },
    ...{ action: 'take_out_payouts', subject_id: hex(1) },
  },
  payout_file_puts: {
    ...{ account, file_id: uuid(1), first: 1, round: 1 },
    ...{ remote_path: '/in/two.xml', size: 1, sha256: digest, asked_by: 2 },
    ...{ asker: 'two@sluice.example', reason: 'for the bank', asked_at: at, tries: 0 },
    ...{ act_at: at },
  },
  payout_file_put_steps: { account, file_id: uuid(4), step: 'arrived', try: 1, at },
  bank_fetches: {
    ...{ account, name: 'two.xml', size: 1, modified_at: at, sha256: digest },
    ...{ became: 'report', said: '1 accepted', fetched_at: at },
  },
  bank_connections: { account: 'ktb', fault: null, since: at, looked_at: at },
  payout_file_schedules: { account, cutoff: '2026-01-02T00:00:00Z', file_id: uuid(1) },
  restores: {
    ...{ restore_id: uuid(2), since: at, marked_by: 0, marker: 'command line', marked_at: at },
  },
  payout_lock_releases: {
    ...{ account, restore_id: uuid(3), how: 'two_people', released_by: 1 },
    ...{ releaser: 'one@sluice.example', evidence: 'the bank says so', released_at: at },
  },
}

const first = { n: 1, order_id: uuid(1) }

/** Files 1 and 4 are sealed, 2 is approved; each has the same order. */
export const payoutFilesThere: [table: string, fields: Fields][] = [
  ...[1, 2, 4].flatMap((n): [string, Fields][] => {
    const file_id = uuid(n)
    return [
      ['payout_files', { file_id }],
      ['payout_file_lines', { file_id, ...first }],
      ['payout_file_lists', { file_id, round: 1 }],
      ['payout_file_approvals', { file_id, round: 1 }],
    ]
  }),
  ...[1, 4].flatMap((n): [string, Fields][] => [
    ['payout_file_seals', { file_id: uuid(n), message_id: `SX${n}` }],
    ['payout_file_downloads', { file_id: uuid(n), n: 1 }],
  ]),
  ['payout_file_lines', { n: 2, order_id: uuid(2) }],
  ['payout_file_lists', { round: 2 }],
  ['payout_file_lines', { n: 4, order_id: uuid(4) }],
  ['payout_items', { ...first, reference: 'SX00000000001', returned_by: uuid(9) }],
  ['payout_items', { n: 4, order_id: uuid(4), reference: 'SX00000000004' }],
  ['payout_item_ends', { n: 1 }],
  ['payout_files', { file_id: uuid(5), already_paid: true }],
  ['payout_file_lines', { file_id: uuid(5), n: 1, order_id: uuid(5) }],
  ['payout_items', { file_id: uuid(5), n: 1, order_id: uuid(5), reference: 'SX00000000005' }],
  // Its last seal is of a round that it never was in.
  ['payout_file_lists', { file_id: uuid(4), round: 2 }],
  ['payout_file_approvals', { file_id: uuid(4), round: 2 }],
  ['payout_file_seals', { file_id: uuid(4), round: 2, message_id: 'SX42' }],
  ['payout_file_reseals', { file_id: uuid(1), round: 1 }],
  ['payout_file_sendings', { file_id: uuid(4) }],
  ['payout_file_reports', { report_id: uuid(1), sha256: digest }],
  ['payout_file_puts', { file_id: uuid(4) }],
  ['payout_file_put_steps', { step: 'withdrawn' }],
  ['bank_fetches', { name: 'one.xml' }],
  ['bank_accounts', { name: 'ktb', only_one: null }],
  ['bank_connections', { account }],
  ['payout_file_schedules', { cutoff: at }],
  ['restores', { restore_id: uuid(1) }],
  ['restores', { restore_id: uuid(3) }],
  ['payout_lock_releases', { restore_id: uuid(1) }],
]

const server = {
  ...{ sftp_host: 'bank.example', sftp_port: 22, sftp_user: 'us', sftp_key: 'c2VhbGVk' },
  sftp_host_key: `SHA256:${'x'.repeat(43)}`,
}
const long = (length: number) => 'x'.repeat(length)

export const payoutFileCases: [constraint: string, table: string, spoiled: Fields][] = [
  ['bank_accounts_payout_check', 'bank_accounts', { payout: 'push', payout_format: 'csv' }],
  ['bank_accounts_payout_format', 'bank_accounts', { payout: 'file' }],
  ['bank_accounts_payout_days', 'bank_accounts', { payout_cutoffs: long(101) }],
  ['bank_accounts_payout_limits', 'bank_accounts', { payout_file_limit: 0 }],
  ['bank_accounts_payout_limits', 'bank_accounts', { payout_day_limit: -1 }],
  ['payout_files_pkey', 'payout_files', { file_id: uuid(1) }],
  ['payout_files_account_fkey', 'payout_files', { account: 'nobody' }],
  ['payout_files_state_check', 'payout_files', { state: 'lost' }],
  ['payout_files_round_check', 'payout_files', { round: 0 }],
  ['payout_files_format_check', 'payout_files', { format: '' }],
  ['payout_files_currency_check', 'payout_files', { currency: 'baht' }],
  ['payout_files_debtor_name_check', 'payout_files', { debtor_name: '' }],
  ['payout_files_debtor_account_no_check', 'payout_files', { debtor_account_no: '1' }],
  ['payout_files_debtor_bank_check', 'payout_files', { debtor_bank: long(12) }],
  ['payout_files_made_by_check', 'payout_files', { made_by: -1 }],
  ['payout_files_maker_check', 'payout_files', { maker: 'x' }],
  ['payout_files_maker_reset_by_check', 'payout_files', { maker_reset_by: -1 }],
  ['payout_file_lines_pkey', 'payout_file_lines', { n: 1 }],
  ['payout_file_lines_once', 'payout_file_lines', { order_id: uuid(1) }],
  ['payout_file_lines_account_file_id_fkey', 'payout_file_lines', { file_id: uuid(9) }],
  ['payout_file_lines_n_check', 'payout_file_lines', { n: 0 }],
  ['payout_file_lines_agent_id_check', 'payout_file_lines', { agent_id: 0 }],
  ['payout_file_lines_attempt_check', 'payout_file_lines', { attempt: 0 }],
  ['payout_file_lines_amount_check', 'payout_file_lines', { amount: 0 }],
  ['payout_file_lists_pkey', 'payout_file_lists', { round: 1 }],
  [
    'payout_file_lists_account_file_id_made_by_maker_reset_by_fkey',
    'payout_file_lists',
    { made_by: 7 },
  ],
  ['payout_file_lists_round_check', 'payout_file_lists', { round: 0 }],
  ['payout_file_lists_digest_check', 'payout_file_lists', { digest: 'x' }],
  ['payout_file_lists_items_check', 'payout_file_lists', { items: 0 }],
  ['payout_file_lists_amount_check', 'payout_file_lists', { amount: 0 }],
  ['payout_file_approvals_pkey', 'payout_file_approvals', { round: 1 }],
  [
    'payout_file_approvals_account_file_id_round_digest_made_by_fkey',
    'payout_file_approvals',
    { digest: 'f'.repeat(64) },
  ],
  ['payout_file_approvals_by_another', 'payout_file_approvals', { approved_by: 1 }],
  ['payout_file_approvals_independent', 'payout_file_approvals', { maker_reset_by: 2, made_by: 1 }],
  ['payout_file_approvals_independent', 'payout_file_approvals', { reset_by: 1 }],
  [
    'payout_file_approvals_independent',
    'payout_file_approvals',
    { reset_by: 5, maker_reset_by: 5 },
  ],
  ['payout_file_approvals_approved_by_check', 'payout_file_approvals', { approved_by: 0 }],
  ['payout_file_approvals_approver_check', 'payout_file_approvals', { approver: 'x' }],
  ['payout_file_approvals_reset_by_check', 'payout_file_approvals', { reset_by: -1 }],
  ['payout_items_pkey', 'payout_items', first],
  [
    'payout_items_account_file_id_n_agent_id_order_id_attempt_a_fkey',
    'payout_items',
    { amount: 101 },
  ],
  ['payout_items_one_file', 'payout_items', { file_id: uuid(2), ...first }],
  ['payout_items_one_reference', 'payout_items', { reference: 'SX00000000001' }],
  ['payout_items_returned', 'payout_items', { returned_by: uuid(9) }],
  ['payout_items_reference_check', 'payout_items', { reference: 'short' }],
  ['payout_items_state_check', 'payout_items', { state: 'gone' }],
  ['payout_items_said_check', 'payout_items', { said: '' }],
  ['payout_items_handed', 'payout_items', { state: 'paid', reference: null }],
  ['payout_items_handed', 'payout_items', { state: 'dropped' }],
  ['payout_items_moved', 'payout_items', { reference: null, debited_by: uuid(8) }],
  ['payout_file_seals_pkey', 'payout_file_seals', { file_id: uuid(1) }],
  ['payout_file_seals_message', 'payout_file_seals', { message_id: 'SX1' }],
  [
    'payout_file_seals_account_file_id_round_digest_fkey',
    'payout_file_seals',
    { digest: 'f'.repeat(64) },
  ],
  ['payout_file_seals_message_id_check', 'payout_file_seals', { message_id: long(36) }],
  ['payout_file_seals_name_check', 'payout_file_seals', { name: '' }],
  ['payout_file_seals_content_type_check', 'payout_file_seals', { content_type: 'x' }],
  ['payout_file_seals_items_check', 'payout_file_seals', { items: 0 }],
  ['payout_file_seals_amount_check', 'payout_file_seals', { amount: 0 }],
  ['payout_file_seals_sha256_check', 'payout_file_seals', { sha256: 'x' }],
  ['payout_file_downloads_pkey', 'payout_file_downloads', { n: 1 }],
  ['payout_file_downloads_of_seal', 'payout_file_downloads', { file_id: uuid(2) }],
  ['payout_file_downloads_of_last_round', 'payout_file_downloads', { file_id: uuid(4), round: 2 }],
  ['payout_file_downloads_round_check', 'payout_file_downloads', { round: null }],
  ['payout_file_downloads_n_check', 'payout_file_downloads', { n: 0 }],
  ['payout_file_downloads_downloaded_by_check', 'payout_file_downloads', { downloaded_by: -1 }],
  ['payout_file_downloads_downloader_check', 'payout_file_downloads', { downloader: 'x' }],
  ['payout_file_downloads_reason_check', 'payout_file_downloads', { reason: 'x' }],
  ['payout_file_sendings_pkey', 'payout_file_sendings', { file_id: uuid(4) }],
  [
    'payout_file_sendings_account_file_id_first_downloaded_by_fkey',
    'payout_file_sendings',
    { downloaded_by: 9 },
  ],
  ['payout_file_sendings_by_another', 'payout_file_sendings', { sent_by: 2 }],
  ['payout_file_sendings_first_check', 'payout_file_sendings', { first: 2 }],
  ['payout_file_sendings_sent_by_check', 'payout_file_sendings', { sent_by: -1 }],
  ['payout_file_sendings_sender_check', 'payout_file_sendings', { sender: 'x' }],
  ['payout_file_sendings_bank_reference_check', 'payout_file_sendings', { bank_reference: '' }],
  ['payout_file_reports_pkey', 'payout_file_reports', { report_id: uuid(1) }],
  ['payout_file_reports_once', 'payout_file_reports', { sha256: digest }],
  ['payout_file_reports_account_file_id_fkey', 'payout_file_reports', { file_id: uuid(9) }],
  ['payout_file_reports_sha256_check', 'payout_file_reports', { sha256: 'x' }],
  ['payout_file_reports_brought_by_check', 'payout_file_reports', { brought_by: -1 }],
  ['payout_file_reports_breaks_check', 'payout_file_reports', { breaks: '' }],
  ['payout_file_reports_bringer_check', 'payout_file_reports', { bringer: 'x' }],
  ['payout_file_reseals_pkey', 'payout_file_reseals', { file_id: uuid(1), round: 1 }],
  ['payout_file_reseals_of_seal', 'payout_file_reseals', { file_id: uuid(2) }],
  ['payout_file_reseals_asked_by_check', 'payout_file_reseals', { asked_by: 0 }],
  ['payout_file_reseals_asker_check', 'payout_file_reseals', { asker: 'x' }],
  ['payout_file_reseals_reason_check', 'payout_file_reseals', { reason: 'x' }],
  ['payout_item_ends_pkey', 'payout_item_ends', { n: 1 }],
  ['payout_item_ends_account_file_id_n_fkey', 'payout_item_ends', { n: 2 }],
  ['payout_item_ends_by_two', 'payout_item_ends', { proposal_id: uuid(11) }],
  ['payout_item_ends_as_asked', 'payout_item_ends', { proposal_id: uuid(14) }],
  ['payout_item_ends_asked', 'payout_item_ends', { action: 'abandon_payout_file' }],
  ['payout_item_ends_asked', 'payout_item_ends', { subject_id: hex(5) }],
  [
    'payout_item_ends_of_file',
    'payout_item_ends',
    { file_id: uuid(5), n: 1, proposal_id: uuid(14), subject_id: hex(5) },
  ],
  ['payout_item_ends_not_paid', 'payout_item_ends', { already_paid: true }],
  [
    'payout_item_ends_how_check',
    'payout_item_ends',
    { how: 'lost', action: 'abandon_payout_file' },
  ],
  ['payout_item_ends_round_check', 'payout_item_ends', { round: 0 }],
  ['payout_item_ends_verdict_check', 'payout_item_ends', { verdict: 'declined' }],
  ['payout_item_ends_reason_check', 'payout_item_ends', { reason: 'x' }],
  ['payout_item_ends_abandoned', 'payout_item_ends', { how: 'abandoned' }],
  [
    'bank_accounts_payout_draft_before',
    'bank_accounts',
    { payout_draft_before: 0, payout_cutoffs: '15:30' },
  ],
  ['payout_file_schedules_pkey', 'payout_file_schedules', { cutoff: at }],
  ['payout_file_schedules_account_file_id_fkey', 'payout_file_schedules', { file_id: uuid(9) }],
  ['payout_file_downloads_mode', 'payout_file_downloads', { mode: 'other' }],
  ['payout_file_downloads_signed_in', 'payout_file_downloads', { made_by: 0, downloaded_by: 0 }],
  ['payout_file_sendings_of_downloader', 'payout_file_sendings', { downloader_reset_by: 7 }],
  ['payout_file_sendings_untied', 'payout_file_sendings', { reset_by: 2 }],
  ['payout_file_sendings_untied', 'payout_file_sendings', { downloader_reset_by: 3 }],
  ['payout_file_downloads_people', 'payout_file_downloads', { approved_by: null }],
  ['payout_file_downloads_approved', 'payout_file_downloads', { approved_by: 7 }],
  ...['payout_file_downloads', 'payout_file_sendings'].flatMap((table) => {
    const by = table === 'payout_file_downloads' ? 'downloaded_by' : 'sent_by'
    const other = 3
    const tied: Fields[] = [
      { approved_by: other },
      { approver_reset_by: other },
      { reset_by: 2 },
      { reset_by: 5, approver_reset_by: 5 },
      { reset_by: null },
    ]
    return tied.map((each): [string, string, Fields] => [
      `${table}_two_people`,
      table,
      { made_by: 0, [by]: other, ...each },
    ])
  }),
  ['payout_file_sendings_people', 'payout_file_sendings', { approved_by: null }],
  ['payout_file_sendings_of_download', 'payout_file_sendings', { round: 2 }],
  ['payout_file_sendings_approved', 'payout_file_sendings', { approved_by: 7 }],
  ['bank_accounts_sftp', 'bank_accounts', { sftp_host: 'bank.example' }],
  ['bank_accounts_sftp', 'bank_accounts', { sftp_put_folder: '/in' }],
  ['bank_accounts_sftp_texts', 'bank_accounts', { ...server, sftp_port: 0 }],
  ['bank_accounts_sftp_texts', 'bank_accounts', { ...server, sftp_host_key: 'MD5:x' }],
  ['payout_file_puts_pkey', 'payout_file_puts', { file_id: uuid(4) }],
  ['payout_file_puts_of_download', 'payout_file_puts', { asked_by: 7 }],
  ['payout_file_puts_of_download', 'payout_file_puts', { round: 2 }],
  ['payout_file_puts_first_check', 'payout_file_puts', { first: 2 }],
  ['payout_file_puts_remote_path_check', 'payout_file_puts', { remote_path: '' }],
  ['payout_file_puts_size_check', 'payout_file_puts', { size: 0 }],
  ['payout_file_puts_sha256_check', 'payout_file_puts', { sha256: 'x' }],
  ['payout_file_puts_asked_by_check', 'payout_file_puts', { asked_by: 0 }],
  ['payout_file_puts_asker_check', 'payout_file_puts', { asker: 'x' }],
  ['payout_file_puts_reason_check', 'payout_file_puts', { reason: 'x' }],
  ['payout_file_puts_tries_check', 'payout_file_puts', { tries: -1 }],
  ['payout_file_puts_fault_check', 'payout_file_puts', { fault: '' }],
  ['payout_file_put_steps_pkey', 'payout_file_put_steps', { step: 'withdrawn' }],
  ['payout_file_put_steps_one_way', 'payout_file_put_steps', { step: 'uploading' }],
  ['payout_file_put_steps_in_order', 'payout_file_put_steps', { step: 'renaming' }],
  [
    'payout_file_put_steps_follow',
    'payout_file_put_steps',
    { step: 'renaming', follows: 'uploading' },
  ],
  ['payout_file_put_steps_try_check', 'payout_file_put_steps', { try: -1 }],
  ['payout_file_put_steps_account_file_id_fkey', 'payout_file_put_steps', { file_id: uuid(2) }],
  ['payout_file_put_steps_step_check', 'payout_file_put_steps', { step: 'lost' }],
  ['payout_file_sendings_seen', 'payout_file_sendings', { put_step: 'renaming', sent_by: 0 }],
  ['payout_file_sendings_seen', 'payout_file_sendings', { sent_by: 0 }],
  ['payout_file_sendings_arrived', 'payout_file_sendings', { sent_by: 0, put_step: 'arrived' }],
  ['bank_fetches_pkey', 'bank_fetches', { name: 'one.xml' }],
  ['bank_fetches_account_fkey', 'bank_fetches', { account: 'nobody' }],
  ['bank_fetches_name_check', 'bank_fetches', { name: '' }],
  ['bank_fetches_size_check', 'bank_fetches', { size: -1 }],
  ['bank_fetches_sha256_check', 'bank_fetches', { sha256: 'x' }],
  ['bank_fetches_became_check', 'bank_fetches', { became: 'lost' }],
  ['bank_fetches_said_check', 'bank_fetches', { said: '' }],
  ['bank_fetches_read', 'bank_fetches', { sha256: null }],
  ['bank_connections_pkey', 'bank_connections', { account }],
  ['bank_connections_account_fkey', 'bank_connections', { account: 'nobody' }],
  ['bank_connections_fault_check', 'bank_connections', { fault: '' }],
  ['payout_files_stays', 'payout_files', { already_paid: true, state: 'exported' }],
  ['restores_pkey', 'restores', { restore_id: uuid(1) }],
  ['restores_marked_by_check', 'restores', { marked_by: -1 }],
  ['restores_marker_check', 'restores', { marker: 'x' }],
  ['restores_in_order', 'restores', { since: '2027-01-01T00:00:00Z' }],
  ['payout_lock_releases_pkey', 'payout_lock_releases', { restore_id: uuid(1) }],
  ['payout_lock_releases_account_fkey', 'payout_lock_releases', { account: 'nobody' }],
  ['payout_lock_releases_restore_id_fkey', 'payout_lock_releases', { restore_id: uuid(9) }],
  ['payout_lock_releases_how_check', 'payout_lock_releases', { how: 'hope', released_by: 0 }],
  [
    'payout_lock_releases_released_by_check',
    'payout_lock_releases',
    { how: 'statements', released_by: -1 },
  ],
  ['payout_lock_releases_releaser_check', 'payout_lock_releases', { releaser: 'x' }],
  ['payout_lock_releases_evidence_check', 'payout_lock_releases', { evidence: 'x' }],
  ['payout_lock_releases_by_people', 'payout_lock_releases', { how: 'statements' }],
]

/** Unique keys that foreign keys need; the primary key refuses first. */
export const payoutFileKeys = [
  'payout_files_as_made',
  'payout_files_in_round',
  'payout_files_as_paid',
  'proposals_as_asked',
  'payout_file_lines_as_drafted',
  'payout_file_lists_as_shown',
  'payout_file_approvals_as_approved',
  'payout_file_downloads_as_made',
  'payout_file_approvals_people',
  'payout_file_downloads_in_round',
  'payout_file_downloads_tied',
  'deployment_by_mode',
]

/** What the service may not change once it is written. */
export const payoutFilesFixed: Record<string, string> = Object.fromEntries(
  Object.entries(goodPayoutFiles).map(([table, row]) => {
    const changes: Record<string, string[]> = {
      payout_files: ['state', 'round'],
      payout_file_puts: ['tries', 'act_at', 'fault'],
      bank_connections: ['fault', 'since', 'looked_at'],
      payout_items: ['reference', 'state', 'said', 'debited_by', 'returned_by'],
    }
    const fixed = Object.keys(row).filter((column) => !changes[table]?.includes(column))
    return [table, fixed.join(', ')]
  }),
)
