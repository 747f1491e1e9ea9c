import { createHash } from 'node:crypto'
import type { ProviderEvent } from '../providers/provider.ts'

/**
 * Removes everything that the database would refuse and limits every length, because a provider's report must
 * be kept.
 */
export function storable(event: ProviderEvent): ProviderEvent {
  const common = { id: storableId(event.id, 200), reference: plain(event.reference) }
  switch (event.type) {
    case 'payment': {
      const { payer, paidAt } = event
      return {
        ...event,
        ...common,
        paymentId: storableId(event.paymentId, 160),
        // An impossible time is treated as missing.
        paidAt: paidAt && paidAt >= earliest && paidAt < latest ? paidAt : null,
        payer: payer && {
          accountNo: payer.accountNo && plain(payer.accountNo),
          accountName: payer.accountName && plain(payer.accountName),
          bankCode: payer.bankCode && plain(payer.bankCode),
        },
      }
    }
    case 'payment_taken_back':
      return { ...event, ...common, paymentId: storableId(event.paymentId, 160) }
    case 'deposit_ended':
      return { ...event, ...common }
    case 'unread':
      return {
        ...event,
        ...common,
        fault: plain(event.fault),
        text: cut(plainText(event.text), 4_000),
      }
    case 'cost':
      return { ...event, ...common, costId: storableId(event.costId, 160) }
    case 'payout': {
      const { outcome } = event
      const said = 'reason' in outcome ? { ...outcome, reason: plain(outcome.reason) } : outcome
      return { ...event, ...common, outcome: said }
    }
  }
}

const earliest = new Date('2000-01-01T00:00:00Z')
const latest = new Date('3000-01-01T00:00:00Z')

function plain(text: string): string {
  return cut(plainText(text), 1_000)
}

function plainText(text: string): string {
  return text.replaceAll('\0', '')
}

/** The beginning of a text, without split surrogate pairs, so that it reads back as it was written. */
export function cut(text: string, longest: number): string {
  return text.slice(0, longest).replace(/\p{Surrogate}/gu, '\ufffd')
}

/** The id unchanged, or its digest if it is too long or cannot be stored. */
export function storableId(id: string, longest: number): string {
  // Stored as UTF-8, all lone surrogates would become the same character, and two ids might become one.
  const hasHalves = /\p{Surrogate}/u.test(id)
  if (id.length >= 1 && id.length <= longest && !id.includes('\0') && !hasHalves) return id
  return `sha256-${digest(id, hasHalves ? 'utf16le' : 'utf8')}`
}

/** A separate id for an event that differs from the stored one with the same id. */
export function ownEventId(event: ProviderEvent): string {
  return `${storableId(event.id, 180)}~${digest(eventText(event), 'utf8').slice(0, 16)}`
}

function digest(text: string, encoding: 'utf8' | 'utf16le'): string {
  return createHash('sha256').update(text, encoding).digest('hex')
}

/** The event as stored until it has been processed. */
export function eventText(event: ProviderEvent): string {
  return JSON.stringify(event, (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

export function eventFromText(text: string): ProviderEvent {
  return JSON.parse(text, (name, value) => {
    if (name === 'amountMinor') return BigInt(value)
    return name === 'paidAt' && value !== null ? new Date(value) : value
  })
}
