import type { Static } from 'typebox'
import type { BankAccount } from '../../bank-accounts/bank-account.ts'
import { bankAccountView } from '../../bank-accounts/bank-account-view.ts'
import {
  confirmableMs,
  confirmBankAccount,
  createBankAccount,
  isNumberTaken,
  madeBy,
  madeSo,
  numberIsTaken,
  type TestPayment,
  tellWhoConfirms,
  updateBankAccount,
  whyNotMade,
} from '../../bank-accounts/save-bank-account.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import { type Currency, parseDecimal } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { signatureOf, tieBetween } from '../../operators/credentials.ts'
import type { Operator } from '../../operators/operator.ts'
import { saveProviderState } from '../../routing/providers.ts'
import { invalidRequest } from '../check.ts'
import { bankAccountNamed } from './bank-account-named.ts'
import { sftpKeyIn, termsFromDraft } from './bank-account-terms.ts'
import { detailOf } from './bank-accounts.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  BankAccountParams,
  ChangedBankAccount,
  ConfirmBankAccount,
  NewBankAccount,
  NewFeedSecret,
  SavedBankAccount,
} from './schemas/bank-accounts.ts'

/** Enough for all terms and a profile. */
const bodyLimit = 64 * 1024

/**
 * Making, changing and confirming bank accounts. Whoever makes or changes one decides where deposits go, so in
 * live another person has to confirm it.
 */
export function saveBankAccountRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { desk, mode, timeZone } = deps
  const { pool, now, secretKeys } = desk
  const change = {
    tag: 'Bank accounts',
    permission: 'manage_bank_accounts',
    agents: 'none',
    movesMoney: true,
  } as const
  const confirmedBy = mode === 'sandbox' ? 'sandbox' : null

  const audit = (
    tx: Tx,
    operator: Operator,
    action: string,
    account: BankAccount,
    reason: string,
    before: BankAccount | null,
  ) =>
    writeAudit(tx, {
      at: now(),
      operator,
      action,
      subject: { kind: 'provider', id: account.name },
      agentId: null,
      ...(before && { before: bankAccountView(before, 'on') }),
      after: bankAccountView(account, 'on'),
      reason,
    })

  const signed = (operator: Operator) =>
    inTransaction(pool, (tx) => signatureOf(tx, operator.userId, now()))

  operatorRoute(api, {
    ...change,
    method: 'POST',
    url: '/bank-accounts',
    summary: 'Make a bank account a provider',
    bodyLimit,
    schema: { body: NewBankAccount, response: { status: 201, schema: SavedBankAccount } },
    handler: async ({ operator, body }) => {
      const { name } = body
      const named = { name, currency: body.currency as Currency }
      const { terms, errors } = termsFromDraft(named, body, timeZone)
      const { sftpKey, errors: more } = sftpKeyIn(body, terms, false)
      if (errors.length + more.length > 0) throw invalidRequest([...errors, ...more])
      const at = now()
      const made = await createBankAccount(pool, secretKeys, terms, {
        name: operator.email,
        at,
        mode,
        confirmedBy,
        signature: await signed(operator),
        sftpKey,
        also: async (tx, account) => {
          if (!body.route) await saveProviderState(tx, name, 'off', at)
          await audit(tx, operator, 'create_bank_account', account, body.reason, null)
          await tellWhoConfirms(tx, account, at)
        },
      })
      if (!made) {
        const message = await whyNotMade(pool, name)
        const field = message === numberIsTaken ? 'account_no' : 'name'
        throw invalidRequest([{ field, message }])
      }
      return savedView(made)
    },
  })

  operatorRoute(api, {
    ...change,
    method: 'PATCH',
    url: '/bank-accounts/:name',
    summary: 'Change a bank account; orders that exist keep their instructions',
    bodyLimit,
    schema: { params: BankAccountParams, body: ChangedBankAccount, response: SavedBankAccount },
    handler: async ({ operator, params, body }) => {
      const before = await accountInVersion(params.name, body.version)
      const { terms, errors } = termsFromDraft(before, body, before.zone)
      const { sftpKey, errors: more } = sftpKeyIn(body, terms, before.sftpKey !== null)
      if (errors.length + more.length > 0) throw invalidRequest([...errors, ...more])
      return savedView(
        await update(operator, before, terms, {
          newSecret: false,
          sftpKey,
          action: 'set_bank_account',
          reason: body.reason,
        }),
      )
    },
  })

  operatorRoute(api, {
    ...change,
    method: 'POST',
    url: '/bank-accounts/:name/feed-secret',
    summary: 'Replace the secret that the bank reports with',
    schema: { params: BankAccountParams, body: NewFeedSecret, response: SavedBankAccount },
    handler: async ({ operator, params, body }) => {
      const before = await accountInVersion(params.name, body.version)
      if (before.feed === 'none') {
        throw new Problem('invalid_transition', 'The account has no feed, so it has no secret.')
      }
      return savedView(
        await update(operator, before, before, {
          newSecret: true,
          sftpKey: null,
          action: 'rotate_feed_secret',
          reason: body.reason,
        }),
      )
    },
  })

  operatorRoute(api, {
    ...change,
    method: 'POST',
    url: '/bank-accounts/:name/confirm',
    summary: 'Confirm an account that another person made or changed',
    schema: { params: BankAccountParams, body: ConfirmBankAccount, response: SavedBankAccount },
    handler: async ({ operator, params, body }) => {
      const before = await accountInVersion(params.name, body.version)
      if (before.confirmedAt !== null) {
        throw new Problem('invalid_transition', `${before.confirmedBy} has confirmed it already.`)
      }
      if (madeBy(before) === operator.email) {
        throw new Problem(
          'not_permitted',
          'You made the account what it is: another person has to confirm it.',
        )
      }
      if (now().getTime() - madeSo(before).getTime() > confirmableMs) {
        throw new Problem(
          'proposal_expired',
          'Nobody confirmed it in time: whoever wants it so saves it again.',
        )
      }
      const signature = await signed(operator)
      const tie = before.maker && tieBetween(before.maker, signature, 'the person who made it so')
      if (tie) throw new Problem('same_person', tie)
      const test = testPaymentIn(body, before.currency, now())
      if (before.qrKind === 'template' && test === null && before.testPaidAt === null) {
        throw invalidRequest([
          {
            field: 'test_payment',
            message:
              'is needed: pay once with a bank app by this QR code, and say who, when and how much',
          },
        ])
      }
      const account = await inTransaction(pool, async (tx) => {
        const by = { name: operator.email, at: now(), signature }
        const done = await confirmBankAccount(tx, before, by, test)
        if (!done) throw changedMeanwhile()
        await audit(tx, operator, 'confirm_bank_account', done, body.reason, before)
        return done
      })
      return savedView({ account, feedSecret: null })
    },
  })

  async function accountInVersion(name: string, version: number): Promise<BankAccount> {
    const account = await bankAccountNamed(pool, name)
    if (account.version !== version) throw changedMeanwhile()
    return account
  }

  async function update(
    operator: Operator,
    before: BankAccount,
    terms: Parameters<typeof updateBankAccount>[3],
    {
      newSecret,
      sftpKey,
      action,
      reason,
    }: { newSecret: boolean; sftpKey: string | null; action: string; reason: string },
  ) {
    const signature = await signed(operator)
    const done = await inTransaction(pool, async (tx) => {
      const by = { name: operator.email, at: now(), confirmedBy, newSecret, signature, sftpKey }
      const changed = await updateBankAccount(tx, secretKeys, before, terms, by)
      if (changed) {
        await audit(tx, operator, action, changed.account, reason, before)
        await tellWhoConfirms(tx, changed.account, now())
      }
      return changed
    })
    if (done) return done
    if (await isNumberTaken(pool, before)) {
      throw invalidRequest([{ field: 'account_no', message: numberIsTaken }])
    }
    throw changedMeanwhile()
  }

  async function savedView(saved: { account: BankAccount; feedSecret: string | null }) {
    return jsonText({
      account: await detailOf(desk, saved.account),
      feed_secret: saved.feedSecret,
    })
  }
}

function testPaymentIn(
  body: Static<typeof ConfirmBankAccount>,
  currency: Currency,
  now: Date,
): TestPayment | null {
  const test = body.test_payment
  if (test === undefined) return null
  const amountMinor = parseDecimal(test.amount, currency)
  if (amountMinor === undefined || amountMinor === 0n) {
    const message = `must be an amount in ${currency}`
    throw invalidRequest([{ field: 'test_payment.amount', message }])
  }
  const at = parseIsoTime(test.paid_at)
  if (!at || at > now) {
    const message = 'must be a time in the past, such as 2026-01-31T08:30:00Z'
    throw invalidRequest([{ field: 'test_payment.paid_at', message }])
  }
  return { by: test.paid_by, at, amountMinor }
}

function changedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'The account has changed since you read it. Read it again, then make your change.',
  )
}
