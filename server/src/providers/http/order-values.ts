import { findBank } from '../../lib/banks.ts'
import { currencyRow } from '../../lib/currencies.ts'
import { type Currency, decimalText, minorPerUnit } from '../../lib/money.ts'
import type { DepositToCollect, Payout } from '../provider.ts'
import type { ConnectorDocument } from './connector-document.ts'
import { CannotRender, type Values } from './template.ts'

/** What a request knows beside its order. */
export interface Surroundings {
  now: Date
  nonce: string
  /** Where the company sends its notices. */
  noticeUrl: string
  publicUrl: string
}

/** The values of a payout's placeholders. */
export function payoutValues(
  document: ConnectorDocument,
  payout: Payout,
  around: Surroundings,
): Values {
  return (name) => {
    switch (name) {
      case 'reference':
        return payout.reference
      case 'theirId':
        return needsId(payout.theirId)
      default:
        return (
          partyValue('payee', name, payout.payee, payout.currency, document) ??
          commonValue(name, payout, document, around)
        )
    }
  }
}

/** The values of a deposit's placeholders. */
export function depositValues(
  document: ConnectorDocument,
  deposit: DepositToCollect,
  around: Surroundings,
): Values {
  const { txnId, expiresAt, payer, currency } = deposit
  const leftS = Math.max(0, Math.floor((expiresAt.getTime() - around.now.getTime()) / 1000))
  return (name) => {
    switch (name) {
      case 'txnId':
        return txnId
      case 'code':
        return deposit.code
      case 'theirId':
        return needsId(deposit.theirId)
      case 'expiresInS':
        return String(leftS)
      default:
        return (
          timeValue('expiresAt', name, expiresAt) ??
          partyValue('payer', name, payer, currency, document) ??
          commonValue(name, deposit, document, around)
        )
    }
  }
}

function needsId(theirId: string | null | undefined): string {
  if (typeof theirId === 'string') return theirId
  throw new CannotRender("the company's own id of it is not known")
}

function commonValue(
  name: string,
  order: Pick<Payout, 'amountMinor' | 'currency' | 'extraParams'>,
  document: ConnectorDocument,
  around: Surroundings,
): string | null | undefined {
  const { amountMinor, currency, extraParams } = order
  const [group = '', rest = ''] = name.split(/\.(.*)/s)
  if (group === 'setting') return document.settings?.[rest]
  if (group === 'extra') return extraValue(extraParams, rest)
  switch (name) {
    case 'currency':
      return currency
    case 'currency.lower':
      return currency.toLowerCase()
    case 'amount.decimal':
      return decimalText(amountMinor, currency)
    case 'amount.fixed':
      return fixedText(amountMinor, currency)
    case 'amount.minor':
      return String(amountMinor)
    case 'amount.integer':
      return wholeUnits(amountMinor, currency)
    case 'nonce':
      return around.nonce
    case 'noticeUrl':
      return around.noticeUrl
    case 'publicUrl':
      return around.publicUrl
    default:
      return timeValue('now', name, around.now)
  }
}

/** A member of the agent's extraParams; null if it is not there or no plain text. */
function extraValue(extraParams: string | null, name: string): string | null {
  if (extraParams === null) return null
  const value = new Map<string, unknown>(Object.entries(JSON.parse(extraParams))).get(name)
  return typeof value === 'string' && value !== '' ? value : null
}

function fixedText(minor: bigint, currency: Currency): string {
  const { decimals } = currencyRow(currency)
  const [whole = '', fraction = ''] = decimalText(minor, currency).split('.')
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`
}

function wholeUnits(minor: bigint, currency: Currency): string {
  const perUnit = minorPerUnit(currency)
  if (minor % perUnit === 0n) return String(minor / perUnit)
  throw new CannotRender('the company takes whole amounts only')
}

function timeValue(group: string, name: string, at: Date): string | undefined {
  switch (name) {
    case `${group}.iso`:
      return at.toISOString()
    case `${group}.unix`:
      return String(Math.floor(at.getTime() / 1000))
    case `${group}.unixMs`:
      return String(at.getTime())
    default:
      return undefined
  }
}

/** How a document names an account in its list of payees. */
export function payeeKey({ bankCode, accountNo }: { bankCode: string; accountNo: string }): string {
  return `${bankCode}:${accountNo.replace(/[^A-Za-z0-9]/g, '')}`
}

function partyValue(
  group: string,
  name: string,
  { accountNo, accountName, bankCode }: Payout['payee'],
  currency: Currency,
  { banks = {}, payees = {} }: ConnectorDocument,
): string | undefined {
  switch (name) {
    case `${group}.accountNo`:
      return accountNo
    case `${group}.accountName`:
      return accountName
    case `${group}.bankCode`:
      return bankCode
    case `${group}.bank`: {
      const theirs = Object.hasOwn(banks, bankCode) ? banks[bankCode] : undefined
      if (theirs !== undefined) return theirs
      throw new CannotRender(`the company does not serve the bank ${bankCode}`)
    }
    case `${group}.id`: {
      const account = payeeKey({ bankCode, accountNo })
      const theirs = Object.hasOwn(payees, account) ? payees[account] : undefined
      if (theirs !== undefined) return theirs
      throw new CannotRender(`the company has no recipient for the account ${account}`)
    }
    case `${group}.bankNumber`: {
      const number = findBank(currency, bankCode)?.numericCode
      if (number) return number
      throw new CannotRender(`the bank ${bankCode} has no number`)
    }
    default:
      return undefined
  }
}
