import { underWayOf } from './claim-callbacks.ts'
/** Where a page begins: after this callback. */
export interface CallbackPlace {
  agentId: bigint
  seq: bigint
  /** By which the list goes: when it is due, for what waits; else when it happened. */
  time: Date
}

/** What callbacks are looked for. */
export interface CallbackSearch {
  agentIds: readonly bigint[]
  state: string | undefined
  /** Only what happened at or before this. */
  until: Date | undefined
  after: CallbackPlace | undefined
  limit: number
}

/** What waits goes by when it is due; everything else by when it happened. */
export function goesByDue(state: string | undefined): boolean {
  return state === 'waiting' || state === 'failing' || state === 'paused'
}

/** Each has an index of its own, so each is read by itself. */
export const undelivered = ['waiting', 'paused', 'sending', 'exhausted', 'superseded', 'no_address']

/** Written out, so that each fits the condition of an index. */
export function conditionOf(state: string | undefined): string {
  const paused = 'select 1 from callback_lanes p where p.agent_id = a.agent_id and p.paused'
  const underWay = underWayOf('a.agent_id')
  switch (state) {
    case undefined:
      return 'true'
    case 'waiting':
      return `x.state = 'waiting' and not exists (${paused}) and x.seq <> all(${underWay})`
    case 'paused':
      return `x.state = 'waiting' and exists (${paused}) and x.seq <> all(${underWay})`
    case 'failing':
      return `x.state = 'waiting' and x.attempts > 0`
    case 'exhausted':
    case 'superseded':
      return `x.state in ('exhausted', 'superseded') and x.state = '${state}'`
    case 'sending':
      return `x.state = 'waiting' and x.seq = any(${underWay})`
    case 'no_address':
    case 'delivered':
      return `x.state = '${state}'`
    default:
      throw new Error(`${state} is no state of a callback`)
  }
}
