import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDecimal } from '../../src/lib/money.ts'
import { findPaymentCodes, paymentCode } from '../../src/lib/payment-code.ts'
import { itemOutcomes, type SentFile } from '../../src/payment-files/item-outcomes.ts'
import { readStatusReport, type StatusReport } from '../../src/payment-files/pain002.ts'
import { readBankFile } from '../../src/statements/read-bank-file.ts'
import type { BankStatement } from '../../src/statements/statement.ts'

interface Checked {
  checked: number
  differences: string[]
}

const ownId = 'PF0SAMPLE0000000000000000'

/**
 * Replays real answers of banks as if they were about files of ours: with our ids in the place of theirs, each payment
 * that a report speaks of has an outcome, and no other file's report means anything to it.
 */
export async function checkAnswerSamples(folder: string): Promise<Checked> {
  const result: Checked = { checked: 0, differences: [] }
  for (const name of namesIn(join(folder, 'pain002'))) {
    const text = readFileSync(join(folder, 'pain002', name), 'utf8')
    const theirs = await readStatusReport(Buffer.from(text))
    const file = fileLike(theirs)
    const ours = await readStatusReport(Buffer.from(withOurIds(text, theirs)))
    result.checked++
    const say = (what: string) => result.differences.push(`${name}: ${what}`)
    const { outcomes, breaks } = itemOutcomes(ours, file)
    const speaks = ours.group.status !== null || ours.payments.length > 0
    if (speaks && outcomes.size === 0) say(`says nothing of our file: ${JSON.stringify(breaks)}`)
    for (const { found, what } of breaks) say(`${what} ${found}`)
    for (const { endToEndId, status } of ours.payments.flatMap((each) => each.transactions)) {
      const told = outcomes.get(endToEndId ?? '')
      if (status !== null && told?.status !== status) {
        say(`${endToEndId} is ${told?.status ?? 'not known'}, not ${status}`)
      }
    }
    if (itemOutcomes(theirs, file).outcomes.size > 0)
      say('means something to a file of ours as it is')
  }
  return result
}

/** A file of ours that has the payments that a report speaks of. */
function fileLike({ payments }: StatusReport): SentFile {
  const named = payments.flatMap((each) => each.transactions)
  const items = named.map(({ endToEndId, amount }) => ({
    code: codeFor(endToEndId ?? ''),
    amountMinor: (amount && parseDecimal(amount.text, 'EUR')) || 100n,
  }))
  return {
    messageId: ownId,
    batchReference: ownId,
    debtor: { currency: 'EUR' },
    items: items.length > 0 ? items : [{ code: codeFor(''), amountMinor: 100n }],
  }
}

function codeFor(theirId: string): string {
  return paymentCode(`sample ${theirId}`)
}

/** The report with our ids, and without what it counts: that is of their file. */
function withOurIds(text: string, { payments }: StatusReport): string {
  const ids = payments.flatMap((each) => each.transactions).map(({ endToEndId }) => endToEndId)
  return text
    .replace(/(<(?:\w+:)?OrgnlMsgId>)[^<]*/g, `$1${ownId}`)
    .replace(/(<(?:\w+:)?OrgnlPmtInfId>)[^<]*/g, `$1${ownId}`)
    .replace(/<((?:\w+:)?Orgnl(?:NbOfTxs|CtrlSum))>[^<]*<\/\1>/g, '')
    .replace(/(<(?:\w+:)?OrgnlEndToEndId>)([^<]*)/g, (whole, tag: string, id: string) =>
      ids.includes(id) ? `${tag}${codeFor(id)}` : whole,
    )
}

/**
 * Replays real notices (camt.054) of debits and returns: with our codes as the end-to-end ids, each entry that has one
 * names a payout of ours, and amounts and signs are as they were.
 */
export async function checkNoticeSamples(folder: string): Promise<Checked> {
  const result: Checked = { checked: 0, differences: [] }
  for (const name of namesIn(join(folder, 'camt')).filter((each) => each.startsWith('camt054'))) {
    const text = readFileSync(join(folder, 'camt', name), 'utf8')
    const read = (bytes: Buffer) =>
      readBankFile(bytes, { currency: 'CHF', zone: 'UTC', decimalsOf: () => 2 }).catch(() => null)
    const before = await read(Buffer.from(text))
    // One sample is there to be refused.
    if (before === null) continue
    result.checked++
    const replaced = text.replace(
      /(<(?:\w+:)?EndToEndId>)([^<]*)/g,
      (_, tag: string, id: string) => `${tag}${codeFor(id)}`,
    )
    const after = await read(Buffer.from(replaced))
    const entries = (statements: readonly BankStatement[] | null) =>
      (statements ?? []).flatMap((each) => each.entries)
    const [was, is] = [entries(before), entries(after)]
    if (was.length !== is.length) result.differences.push(`${name}: ${is.length} of ${was.length}`)
    for (const [at, entry] of is.entries()) {
      const { endToEndId } = entry.ids
      const found = findPaymentCodes([endToEndId ?? ''])
      if (endToEndId !== null && found[0] !== endToEndId) {
        result.differences.push(`${name}, line ${entry.line}: no code in ${endToEndId}`)
      }
      if (entry.amountMinor !== was[at]?.amountMinor) {
        result.differences.push(`${name}, line ${entry.line}: another amount`)
      }
    }
  }
  return result
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => name.endsWith('.xml'))
}
