/**
 * Tables whose lies are told in other test files. Their columns are named, so that a new one fails until somebody has
 * decided what a lie about it would do, and told it there.
 */
export const provedElsewhere: Record<string, Record<string, string>> = {
  archive_parts: toldIn(
    'archive.test.ts',
    `
    agent_id part sha256 from_seq to_seq available held clearing fees adjustments ended_at name orders removed_orders
    state made_at suspense costs differences transfers clearings reserve unexplained hash`,
  ),
  archived_keys: toldIn(
    'archive.test.ts',
    `
    agent_id once_key`,
  ),
  archived_refs: toldIn(
    'archive.test.ts',
    `
    agent_id ref_id order_id part`,
  ),
  bank_movements: toldIn(
    'prove-movements.test.ts',
    `
    account movement_id amount currency booked_on booked_at text payer_account_no payer_name payer_bank
    is_return state agent_id order_id paid_at why returns explained_by detail reported_at act_at tries
    deducted held version`,
  ),
  bank_reports: {
    ...toldIn(
      'prove-movements.test.ts',
      `
      account source report_key movement_id file_id statement_id line amount booked_on booked_at balance_after
      ids text payer_account_no is_trusted reported_at batch_count`,
    ),
    charges:
      'what one report says; what was made of it stands in the movement as deducted, and is proved there',
    is_return:
      'what one report says; what was made of all of them stands in the movement, and is proved there',
  },
  expected_deposits: toldIn(
    'prove-movements.test.ts',
    `
    account code agent_id order_id user_id amount payable by_amount payer_account_no created_at expires_at
    held_until state`,
  ),
  limit_counting: toldIn(
    'limits.test.ts',
    `
    agent_id kind per counts_from`,
  ),
  limit_payees: toldIn(
    'limits.test.ts',
    `
    agent_id account order_id`,
  ),
  limit_uses: toldIn(
    'limits.test.ts',
    `
    agent_id kind per subject starts_at amount orders`,
  ),
  payout_file_approvals: toldIn(
    'payout-files.test.ts',
    `
    account file_id round digest made_by maker_reset_by approved_by approver reset_by approved_at`,
  ),
  payout_file_downloads: toldIn(
    'payout-files.test.ts',
    `
    account file_id n downloaded_by downloader reason at round made_by approved_by approver_reset_by reset_by mode`,
  ),
  payout_file_lines: toldIn(
    'payout-files.test.ts',
    `
    account file_id n agent_id order_id attempt amount payee_name payee_account_no payee_bank`,
  ),
  payout_file_lists: toldIn(
    'payout-files.test.ts',
    `
    account file_id round digest items amount made_by maker_reset_by listed_at`,
  ),
  payout_file_reports: toldIn(
    'payout-files.test.ts',
    `
    sha256 account file_id report_id bytes brought_by bringer at breaks`,
  ),
  payout_file_reseals: toldIn(
    'payout-files.test.ts',
    `
    account file_id round asked_by asker reason at`,
  ),
  payout_file_seals: toldIn(
    'payout-files.test.ts',
    `
    sha256 account file_id round digest message_id name content_type sealed_at execution_date items amount bytes`,
  ),
  payout_file_sendings: toldIn(
    'payout-files.test.ts',
    `
    account file_id first downloaded_by sent_by sender bank_reference at round made_by approved_by
    approver_reset_by reset_by put_step downloader_reset_by`,
  ),
  payout_files: toldIn(
    'payout-files.test.ts',
    `
    account file_id state round format characters zone debtor_name debtor_account_no debtor_bank currency made_by maker
    maker_reset_by made_at already_paid debit rest`,
  ),
  payout_item_ends: toldIn(
    'payout-files.test.ts',
    `
    account file_id n how round may_try_another proposal_id action subject_id verdict reason at already_paid`,
  ),
  payout_items: toldIn(
    'payout-files.test.ts',
    `
    account file_id n agent_id order_id attempt amount reference state said debited_by returned_by`,
  ),
}

function toldIn(file: string, columns: string): Record<string, string> {
  return Object.fromEntries(
    columns
      .trim()
      .split(/\s+/)
      .map((column) => [column, file]),
  )
}
