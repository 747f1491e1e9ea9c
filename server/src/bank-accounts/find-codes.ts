import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import {
  type CodeForm,
  digitsForm,
  findPaymentCodes,
  isDigitCode,
  isPaymentCode,
  isWrittenOut,
  possibleDigitCodes,
  usualForm,
} from '../lib/payment-code.ts'
import { codeOfSwissReference } from '../lib/qr/creditor-reference.ts'
import type { BankAccount } from './bank-account.ts'

/**
 * Finds the payment codes in texts. Of what was paid with an amount, a code of digits counts only where it is written
 * out or was to be paid with that amount: longer numbers hold others by chance.
 */
export type FindCodes = (texts: readonly string[], amountMinor?: bigint) => string[]

/** How codes were written at an account, the present form first: an order keeps its code. */
export function codeFormsOf({
  codeForm,
  formerCodeForms,
}: Pick<BankAccount, 'codeForm' | 'formerCodeForms'>): CodeForm[] {
  return [codeForm, ...formerCodeForms.split(',').filter(Boolean)]
}

/** How many codes one question is about. */
const pageCodes = 50_000

/**
 * Makes what finds the codes of all accounts in these texts: a payer may name an order of one account and pay to
 * another. Other words and numbers may look like codes, so only those count that were given out.
 */
export async function codesIn(db: Pool | Tx, texts: Iterable<string>): Promise<FindCodes> {
  const { rows } = await db.query<Pick<BankAccount, 'codeForm' | 'formerCodeForms'>>(
    `select distinct code_form as "codeForm", former_code_forms as "formerCodeForms"
     from bank_accounts`,
  )
  const forms = [...new Set([usualForm, ...rows.flatMap(codeFormsOf)])]
  const possibleIn = (some: readonly string[]) => [
    ...codesOfForms(some, forms),
    ...(forms.includes(digitsForm) ? some.flatMap(possibleDigitCodes) : []),
  ]
  const possible = new Set<string>()
  for (const text of texts) for (const code of possibleIn([text])) possible.add(code)
  const given = await givenOut(db, [...possible])
  return (some, amountMinor) =>
    [...new Set(possibleIn(some))].filter((code) => {
      const payables = given.get(code)
      if (!payables || amountMinor === undefined || !isDigitCode(code)) return !!payables
      return payables.has(amountMinor) || isWrittenOut(code, some)
    })
}

/** Those codes that were given out, with what was to be paid under them. */
async function givenOut(
  db: Pool | Tx,
  codes: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<bigint>>> {
  const given = new Map<string, Set<bigint>>()
  for (let at = 0; at < codes.length; at += pageCodes) {
    const page = [codes.slice(at, at + pageCodes)]
    const { rows: deposits } = await db.query<{ code: string; payable: bigint }>(
      'select code, payable from expected_deposits where code = any($1::text[])',
      page,
    )
    for (const { code, payable } of deposits) {
      given.set(code, (given.get(code) ?? new Set()).add(payable))
    }
    const { rows: payouts } = await db.query<{ reference: string }>(
      'select reference from payout_references where reference = any($1::text[])',
      page,
    )
    for (const { reference } of payouts) given.set(reference, given.get(reference) ?? new Set())
  }
  return given
}

/** The codes in texts, as they are or as the 27 digits of a Swiss reference. */
export function codesOfForms(texts: readonly string[], forms: readonly CodeForm[]): string[] {
  const swiss = texts.flatMap((text) => {
    const runs = text.replace(/(?<=\d)\s+(?=\d)/g, '').match(/\d{27,}/g) ?? []
    return runs.flatMap((run) =>
      Array.from({ length: run.length - 26 }, (_, at) =>
        codeOfSwissReference(run.slice(at, at + 27)),
      ),
    )
  })
  const valid = swiss.filter((code) => code !== undefined && isPaymentCode(code, forms))
  return [...new Set([...findPaymentCodes(texts, forms), ...valid])].filter(
    (code) => code !== undefined,
  )
}
