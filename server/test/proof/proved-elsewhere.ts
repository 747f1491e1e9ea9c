import { accountNames } from '../../src/ledger/accounts.ts'

const ofFile = says('the key of its file: the file would lack it', 'account file_id')

/**
 * Tables whose lies are told in other test files: verify-every-column.test.ts looks whether each column that is named
 * here for a file has its lie there. A new column fails until somebody has told one, or said why none is needed.
 */
export const provedElsewhere: Record<string, Record<string, string>> = {
  archive_parts: {
    ...toldIn('archive/archive.test.ts', [
      'part sha256 from_seq to_seq ended_at orders removed_orders clearings hash',
      accountNames.join(' '),
    ]),
    ...says('where the files are, and how far their orders have left', 'name state made_at'),
    ...says('the key of the book: no part of it would be there', 'agent_id'),
  },
  archived_keys: {
    ...toldIn('archive/archive.test.ts', ['once_key']),
    ...says('half of the key that is looked for', 'agent_id'),
  },
  archived_refs: toldIn('archive/archive.test.ts', ['agent_id ref_id order_id part']),
  bank_movements: {
    ...toldIn('proof/prove-movements.test.ts', [
      'movement_id amount currency booked_on booked_at text payer_account_no payer_name payer_bank',
      'is_return state agent_id order_id paid_at why returns explained_by reported_at act_at deducted held',
    ]),
    ...says('half of its key: its reports are under both', 'account'),
    ...says('words for people, and how often it was tried', 'detail tries'),
    version: 'which claim it is of; nothing is decided by it later',
  },
  bank_reports: {
    ...toldIn('proof/prove-movements.test.ts', [
      'source report_key movement_id amount booked_on booked_at text payer_account_no is_trusted is_return',
    ]),
    ...says('half of the key of its movement, which would be reported by nobody', 'account'),
    ...says('where it stands in the bank’s file, which is kept', 'file_id statement_id line'),
    ...says(
      'what one report says, by which it was paired with others when it came; nothing is booked by it later',
      'balance_after ids reported_at',
    ),
    batch_count: 'how many payments a sum is of; that they add up to it is proved',
    charges:
      'what one report says; what was made of it stands in the movement as deducted, and is proved there',
  },
  expected_deposits: {
    ...toldIn('proof/prove-movements.test.ts', [
      'code agent_id order_id user_id amount payable by_amount payer_account_no created_at expires_at state',
    ]),
    ...says('half of its key: an order is at one account, which its own row says', 'account'),
    ...says(
      'how long its amount is nobody else’s; money that comes later is still recognised',
      'held_until',
    ),
  },
  limit_counting: {
    ...toldIn('limits/limits.test.ts', ['counts_from']),
    ...says('its key: rows under another one are missing, which is told', 'agent_id kind per'),
  },
  limit_payees: {
    ...toldIn('limits/limits.test.ts', ['account order_id']),
    ...says('half of its key: rows under another one are missing, which is told', 'agent_id'),
  },
  limit_uses: {
    ...toldIn('limits/limits.test.ts', ['subject starts_at amount orders']),
    ...says('parts of its key, under which everything is counted again', 'agent_id kind per'),
  },
  payout_file_approvals: {
    ...toldIn('payout-files/payout-files.test.ts', ['round digest approved_by']),
    ...ofFile,
    ...people('made_by maker_reset_by approver reset_by approved_at'),
  },
  payout_file_downloads: {
    ...toldIn('payout-files/payout-files.test.ts', ['round']),
    ...ofFile,
    ...people(
      'n downloaded_by downloader reason at made_by approved_by approver_reset_by reset_by mode',
    ),
  },
  payout_file_lines: {
    ...toldIn('payout-files/payout-files.test.ts', [
      'n agent_id order_id attempt amount payee_name payee_account_no payee_bank',
    ]),
    ...ofFile,
  },
  payout_file_lists: {
    ...toldIn('payout-files/payout-files.test.ts', ['round digest items amount made_by']),
    ...ofFile,
    ...people('maker_reset_by listed_at'),
  },
  payout_file_reports: says(
    'what the bank answered, as it came; what was made of it stands in the items, and is proved there',
    'sha256 account file_id report_id bytes brought_by bringer at breaks',
  ),
  payout_file_reseals: {
    ...toldIn('payout-files/payout-file-ends.test.ts', ['round']),
    ...ofFile,
    ...people('asked_by asker reason at'),
  },
  payout_file_seals: {
    ...toldIn('payout-files/payout-files.test.ts', [
      'sha256 round digest message_id sealed_at execution_date items amount bytes',
    ]),
    ...ofFile,
    ...says('how the file is called when somebody takes it', 'name content_type'),
  },
  payout_file_sendings: {
    ...ofFile,
    ...people(
      'first downloaded_by sent_by sender bank_reference at round made_by approved_by approver_reset_by',
      'reset_by put_step downloader_reset_by',
    ),
  },
  payout_files: {
    ...toldIn('payout-files/payout-files.test.ts', [
      'state round format characters debtor_name debtor_account_no debtor_bank currency already_paid debit',
    ]),
    ...ofFile,
    zone: 'by which its times are written; the sealed bytes are made again with it',
    ...toldIn('payout-files/after-restore.test.ts', ['rest']),
    ...people('made_by maker maker_reset_by made_at'),
  },
  payout_item_ends: {
    ...toldIn('payout-files/payout-file-ends.test.ts', [
      'n how round may_try_another proposal_id reason',
    ]),
    ...ofFile,
    ...people('action subject_id verdict at already_paid'),
  },
  payout_items: {
    ...toldIn('payout-files/payout-files.test.ts', [
      'n agent_id order_id attempt amount reference state debited_by returned_by',
    ]),
    ...ofFile,
    said: 'the bank’s words',
  },
}

/** The marks by which a column's lie is looked for in another file. */
function toldIn(file: string, columns: string[]): Record<string, string> {
  return says(file, ...columns)
}

function says(why: string, ...columns: string[]): Record<string, string> {
  return Object.fromEntries(
    columns.flatMap((some) => some.split(' ').map((column) => [column, why])),
  )
}

function people(...columns: string[]): Record<string, string> {
  return says(
    'who did it and when; keys and checks bind them, and the rows never change',
    ...columns,
  )
}
