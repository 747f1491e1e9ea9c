import { findBankAccount } from '../bank-accounts/bank-account.ts'
import { fullAccountNo, maskedPattern } from '../bank-accounts/pair-reports.ts'
import { Problem } from '../lib/problem.ts'
import { storableOrNull, storableText } from '../lib/storable-text.ts'
import type { LineReporter, ReportedLine } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { bookMovements } from './book-movement.ts'
import { takePush } from './take-push.ts'

/**
 * Takes lines of a bank account that a connector reports: each is a report on the account, paired with its statements,
 * so that the same money is booked once. Returns the movements.
 */
export async function takeLines(
  desk: Desk,
  { account: name, isSigned, ruleWords }: LineReporter,
  lines: readonly ReportedLine[],
  mode: 'sandbox' | 'live',
  onError: (error: unknown) => void,
): Promise<string[]> {
  const account = await findBankAccount(desk.pool, name)
  if (!account) throw new Problem('not_found', `There is no bank account "${name}".`)
  const own = fullAccountNo(account.accountNo)
  // Where each rule for lines names the account, a line need not do so.
  const isNamed = ruleWords.every((words) => words.some((word) => fullAccountNo(word) === own))
  for (const { currency, accountNo } of lines) {
    if (accountNo === null ? !isNamed : !isNumberOf(accountNo, own)) {
      throw new Problem('invalid_request', `This is of another account than ${name}.`)
    }
    if (currency !== account.currency) {
      throw new Problem('invalid_request', `The account ${name} is in ${account.currency}.`)
    }
  }
  // What anybody could send who has seen one request is believed as far as the account believes a token.
  const isTrusted = mode === 'sandbox' || (isSigned && account.confirmedAt !== null)
  const trust = isTrusted || isSigned ? isTrusted : 'within limits'
  const movements: string[] = []
  for (const { id, amountMinor, bookedAt, text, payer } of lines) {
    const push = {
      id: storableText(id),
      amountMinor,
      bookedAt,
      text: storableText(text),
      payer: {
        accountNo: storableOrNull(payer.accountNo),
        name: storableOrNull(payer.name),
        bank: storableOrNull(payer.bank),
      },
      balanceAfterMinor: null,
    }
    movements.push(await takePush(desk, account, push, trust))
  }
  // They are on disk: whether they can be booked at once changes nothing about the answer.
  for (const movement of movements) {
    await bookMovements(desk, onError, account.name, movement).catch(onError)
  }
  return movements
}

/** Whether a number, part of which may be hidden, can be this one. */
function isNumberOf(accountNo: string, own: string | null): boolean {
  const no = fullAccountNo(accountNo)
  if (no !== null || own === null) return no !== null && no === own
  const pattern = maskedPattern(accountNo)
  if (pattern === null || pattern.length > own.length) return false
  const end = own.slice(-pattern.length).toUpperCase()
  return [...pattern].every((each, at) => each === '_' || each === end[at])
}
