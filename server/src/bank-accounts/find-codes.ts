import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import {
  type CodeForm,
  digitsForm,
  findPaymentCodes,
  isPaymentCode,
  possibleDigitCodes,
  usualForm,
} from '../lib/payment-code.ts'
import { codeOfSwissReference } from '../lib/qr/creditor-reference.ts'
import type { BankAccount } from './bank-account.ts'

/** Finds the payment codes in texts. */
export type FindCodes = (texts: readonly string[]) => string[]

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
 * another. Any thirteen digits may be a code of digits, so only those count that were given out.
 */
export async function codesIn(db: Pool | Tx, texts: Iterable<string>): Promise<FindCodes> {
  const { rows } = await db.query<Pick<BankAccount, 'codeForm' | 'formerCodeForms'>>(
    `select distinct code_form as "codeForm", former_code_forms as "formerCodeForms"
     from bank_accounts`,
  )
  const forms = [...new Set([usualForm, ...rows.flatMap(codeFormsOf)])]
  if (!forms.includes(digitsForm)) return (some) => codesOfForms(some, forms)
  const possible = new Set<string>()
  for (const text of texts) for (const code of possibleDigitCodes(text)) possible.add(code)
  const given = await givenOut(db, [...possible])
  return (some) => [
    ...new Set([
      ...codesOfForms(some, forms),
      ...some.flatMap(possibleDigitCodes).filter((code) => given.has(code)),
    ]),
  ]
}

async function givenOut(db: Pool | Tx, codes: readonly string[]): Promise<ReadonlySet<string>> {
  const given = new Set<string>()
  for (let at = 0; at < codes.length; at += pageCodes) {
    const { rows } = await db.query<{ code: string }>(
      'select code from expected_deposits where code = any($1::text[])',
      [codes.slice(at, at + pageCodes)],
    )
    for (const { code } of rows) given.add(code)
  }
  return given
}

/** The codes in texts, as they are or as the 27 digits of a Swiss reference. */
export function codesOfForms(texts: readonly string[], forms = [usualForm]): string[] {
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
