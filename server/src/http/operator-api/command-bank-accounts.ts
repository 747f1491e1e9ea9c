import { type BankAccount, findBankAccount } from '../../bank-accounts/bank-account.ts'
import type { BankAccountTerms } from '../../bank-accounts/bank-account-terms.ts'
import { bankAccountView } from '../../bank-accounts/bank-account-view.ts'
import {
  type CommandBankAccount,
  commandBankAccount,
  termsOfProposal,
} from '../../bank-accounts/command-bank-account.ts'
import {
  confirmBankAccount,
  createBankAccount,
  updateBankAccount,
  whyNotMade,
} from '../../bank-accounts/save-bank-account.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { seal, unseal } from '../../lib/secret-box.ts'
import { writeAudit } from '../../operators/audit.ts'
import { signatureOf } from '../../operators/credentials.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { saveProviderState } from '../../routing/providers.ts'
import type { Input } from './approvals-desk.ts'
import type { OperatorDeps } from './operator-deps.ts'
import type { OperatorApi } from './operator-route.ts'

const maker = 'command line'

/** Making and changing bank accounts by the command line: done, and confirmed, by the admin who approves. */
export function commandBankAccounts(api: OperatorApi, { desk, mode }: OperatorDeps): void {
  const { pool, now, secretKeys } = desk
  const keyOwner = (name: string) => `sftp key of bank account ${name} in a proposal`

  /** The account as it is, and its terms as they would be. */
  const read = async ({ params, body }: Input) => {
    const name = String(Object(params).name)
    const asked = body as CommandBankAccount
    const before = await findBankAccount(pool, name)
    if (asked.isNew && before) throw new Problem('invalid_transition', await whyNotMade(pool, name))
    if (!asked.isNew && !before) throw new Problem('not_found', `There is no account ${name}.`)
    return { name, asked, before, terms: termsOfProposal(asked.terms) }
  }

  /** What who approves takes on themselves. A bank's own QR code is tried before, so that account waits. */
  const believe = async (
    tx: Tx,
    account: BankAccount,
    operator: Operator,
  ): Promise<BankAccount> => {
    const isTried = account.qrKind !== 'template' || account.testPaidAt !== null
    if (account.confirmedAt !== null || !isTried) return account
    const at = now()
    const signature = await signatureOf(tx, operator.userId, at)
    const by = { name: operator.email, at, signature }
    return (await confirmBankAccount(tx, account, by, null)) ?? account
  }

  const written = async (
    tx: Tx,
    operator: Operator,
    { before, asked }: Pick<Awaited<ReturnType<typeof read>>, 'before' | 'asked'>,
    account: BankAccount,
    feedSecret: string | null,
  ) => {
    const at = now()
    await takeEffect(
      tx,
      operator,
      at,
      feedSecret === null ? undefined : { feed_secret: feedSecret },
    )
    await writeAudit(tx, {
      at,
      operator,
      action: before ? 'set_bank_account' : 'create_bank_account',
      subject: { kind: 'provider', id: account.name },
      agentId: null,
      ...(before && { before: bankAccountView(before, 'on') }),
      after: bankAccountView(account, 'on'),
      reason: asked.reason,
    })
  }

  api.approvals.add(commandBankAccount, {
    actions: () => ['change_bank_account'],
    permission: 'manage_bank_accounts',
    repeats: 'effect',
    hasSecret: true,
    kept: (body) => {
      const { terms, sftpKey, ...asked } = body as CommandBankAccount
      const sealed = sftpKey && seal(secretKeys, keyOwner(String(terms.name)), sftpKey)
      return { ...asked, terms, sftpKey: sealed ? sealed.toString('base64') : null }
    },
    view: async (_operator, input) => {
      const { name, asked, before, terms } = await read(input)
      const fields = Object.keys(terms) as (keyof BankAccountTerms)[]
      const changed = fields.filter((field) =>
        before ? before[field] !== terms[field] : terms[field] !== null,
      )
      const shown = (of: Partial<BankAccountTerms>) =>
        Object.fromEntries(changed.map((field) => [named(field), textOf(of[field])]))
      return {
        subject: { kind: 'provider', id: name },
        agentId: null,
        before: before ? { version: before.version, ...shown(before) } : null,
        after: {
          ...shown(terms),
          ...(asked.newSecret && { feed_secret: 'a new one' }),
          ...(asked.sftpKey !== null && { sftp_key: 'another one' }),
          ...(asked.isOff && { state: 'off' }),
          ...(asked.testPaid !== null && { test_paid: asked.testPaid }),
        },
      }
    },
    run: async (operator, input) => {
      const { name, asked, before, terms } = await read(input)
      const sealed = asked.sftpKey === null ? null : Buffer.from(asked.sftpKey, 'base64')
      const sftpKey = sealed && (unseal(secretKeys, keyOwner(name), sealed) ?? null)
      if (sealed && sftpKey === null) {
        throw new Problem('changed_meanwhile', 'No key opens its private key: propose it again.')
      }
      const at = now()
      const testPayment =
        asked.testPaid === null ? null : { by: maker, at, amountMinor: BigInt(asked.testPaid) }
      const by = { name: maker, at, confirmedBy: null, sftpKey, testPayment }
      const done = before
        ? await inTransaction(pool, async (tx) => {
            const change = { ...by, newSecret: asked.newSecret }
            const saved = await updateBankAccount(tx, secretKeys, before, terms, change)
            if (!saved) return undefined
            const account = await believe(tx, saved.account, operator)
            await written(tx, operator, { before, asked }, account, saved.feedSecret)
            return saved
          })
        : await createBankAccount(pool, secretKeys, terms, {
            ...by,
            mode,
            also: async (tx, account, feedSecret) => {
              if (asked.isOff) await saveProviderState(tx, name, 'off', at)
              const made = await believe(tx, account, operator)
              await written(tx, operator, { before, asked }, made, feedSecret)
            },
          })
      if (!done) throw new Problem('changed_meanwhile', await whyNotMade(pool, name))
    },
  })
}

function named(field: string): string {
  return field.replace(/Minor$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function textOf(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : (value ?? null)
}
